// receivers and route.
#include <fmt/core.h>

#include <algorithm>

#include "daemon/config/loading.h"
#include "daemon/config/words.h"

namespace outcomed {
namespace {

bool is_printable_name(std::string_view name) {
  return !name.empty() && name.size() <= 200 && name.front() != ' ' && name.back() != ' ' &&
         name.find('\n') == std::string_view::npos && name.find('\t') == std::string_view::npos;
}

void load_part(Section& section, const Node::Entry& entry, const std::string& path,
               ReceiverConfig& receiver) {
  Loading& loading = section.loading;
  const ReceiverEntry* plugin = find_kind(loading.catalogs.receivers, entry.key);
  if (!plugin) {
    report_unknown_kind(section.problems, entry.place, path, KindOf::receiver, entry.key,
                        kinds_of(loading.catalogs.receivers));
    return;
  }
  if (entry.value.kind != Node::Kind::map) {
    section.problems.add(entry.value.place, path, kind_text(entry.value),
                         "write a mapping of settings");
    return;
  }
  NodeVisitor visitor(entry.value, path, section.problems, loading.folder);
  ReceiverPart part{entry.key, plugin->make()};
  part.settings->visit(visitor);
  visitor.finish();
  receiver.parts.push_back(std::move(part));
}

void load_receiver(Section& section, const Node& item, const std::string& path) {
  Loading& loading = section.loading;
  ReceiverConfig receiver;
  receiver.place = item.place;
  NodeVisitor visitor(item, path, section.problems, loading.folder);
  visitor.text("name", receiver.name, "");
  if (require(visitor, section.problems, "name", receiver.name, "routes refer to it by name")) {
    if (!is_printable_name(receiver.name)) {
      visitor.problem("name", in_quotes(receiver.name) + " can't be a name",
                      "write one short line");
    } else if (!loading.receivers.add(receiver.name)) {
      visitor.problem("name", in_quotes(receiver.name) + " is the name of another receiver",
                      "rename one of them");
      return;
    }
  }
  for (const Node::Entry& entry : item.entries) {
    if (entry.key == "name") continue;
    visitor.take(entry.key);
    load_part(section, entry, join_path(path, entry.key), receiver);
  }
  visitor.finish();
  loading.config.receivers.push_back(std::move(receiver));
}

void check_group_by(NodeVisitor& visitor, ProblemSink& problems, const Route& route) {
  if (route.group_by.size() == 1 && route.group_by.front() == kGroupByAll) return;
  if (std::ranges::find(route.group_by, kGroupByAll) != route.group_by.end()) {
    visitor.problem("group_by", "\"...\" means all labels", "write it alone, or name labels");
    return;
  }
  check_label_list(visitor, problems, "group_by", route.group_by);
}

void check_receiver(Section& section, NodeVisitor& visitor, const Route& route, bool is_root) {
  if (is_root && !require(visitor, section.problems, "receiver", route.receiver,
                          "name the receiver of everything no other route takes")) {
    return;
  }
  const bool own = visitor.take("receiver") != nullptr;
  const NameTable& receivers = section.loading.receivers;
  if (!own || visitor.is_broken("receiver") || receivers.holds(route.receiver)) return;
  section.problems.add(
      visitor.place_of("receiver"), visitor.path_of("receiver"),
      "unknown receiver " + shown(route.receiver),
      nearest_hint(section.problems, route.receiver, receivers.names(), "receivers"));
}

// Recursion goes as deep as the file, and files are at most kMaxConfigDepth levels deep.
Route load_route_node(Section& section, const Node& node, const std::string& path, bool is_root) {
  Route route;
  NodeVisitor visitor(node, path, section.problems, section.loading.folder);
  visit_route(route, visitor);
  check_receiver(section, visitor, route, is_root);
  check_group_by(visitor, section.problems, route);
  if (is_root && !route.matchers.empty()) {
    visitor.problem("matchers", "the root route takes every alert", "move them to a child route");
  }
  if (is_root && route.goes_on) {
    visitor.problem("continue", "the root route has no siblings", "remove it");
  }
  for (const std::string_view later : {"group_wait", "group_interval", "repeat_interval",
                                       "mute_time_intervals", "active_time_intervals"}) {
    if (node.find(later)) {
      visitor.take(later);
      visitor.problem(later, "isn't read by this version", "remove it");
    }
  }
  if (const Node::Entry* routes = visitor.take("routes")) {
    const std::string list = visitor.path_of("routes");
    if (routes->value.kind != Node::Kind::sequence) {
      section.problems.add(routes->value.place, list, kind_text(routes->value),
                           "write a list of routes");
    }
    for (std::size_t i = 0; i < routes->value.items.size(); ++i) {
      const Node& child = routes->value.items[i];
      const std::string child_path = item_path(list, i);
      if (child.kind != Node::Kind::map) {
        section.problems.add(child.place, child_path, kind_text(child),
                             "write a mapping such as {matchers: [...], receiver: oncall}");
      } else {
        route.routes.push_back(load_route_node(section, child, child_path, false));
      }
    }
  }
  visitor.finish();
  return route;
}

}  // namespace

void load_receivers(Section& section) {
  const Node::Entry* list = section.top.take("receivers");
  if (!list) return;
  if (list->value.kind != Node::Kind::sequence) {
    section.problems.add(list->value.place, "receivers", kind_text(list->value),
                         "write a list: [{name: oncall, webhook: {url: …}}]");
    return;
  }
  for (std::size_t i = 0; i < list->value.items.size(); ++i) {
    const Node& item = list->value.items[i];
    const std::string path = item_path("receivers", i);
    if (item.kind == Node::Kind::map) {
      load_receiver(section, item, path);
    } else {
      section.problems.add(item.place, path, kind_text(item),
                           "write a mapping such as {name: oncall, webhook: {url: …}}");
    }
  }
}

void load_route(Section& section) {
  const Node::Entry* entry = section.top.take("route");
  if (!entry) return;
  if (entry->value.kind != Node::Kind::map) {
    section.problems.add(entry->value.place, "route", kind_text(entry->value),
                         "write a mapping such as {receiver: oncall}");
    return;
  }
  section.loading.config.route = load_route_node(section, entry->value, "route", true);
}

}  // namespace outcomed
