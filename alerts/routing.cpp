#include "alerts/routing.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "alerts/text.h"

namespace outcomed {
namespace {

// A node on the way from the root, with what it inherits.
struct RouteFrame {
  const Route* route;
  const std::string* receiver;
  const std::vector<std::string>* group_by;
  std::string key;
  std::size_t next_child = 0;
  std::size_t found_before = 0;  // Matches when it was entered.
};

// Alertmanager sorts the matchers of a route, so the key doesn't depend on their order in the file.
std::string matchers_text(const Matchers& matchers) {
  std::vector<const Matcher*> sorted;
  for (const Matcher& matcher : matchers) sorted.push_back(&matcher);
  std::ranges::sort(sorted, {}, [](const Matcher* m) {
    return std::tuple<std::string_view, std::string_view, Matcher::Op>(m->name(), m->value(),
                                                                       m->op());
  });
  std::string text = "{";
  for (const Matcher* matcher : sorted) {
    if (text.size() > 1) text += ',';
    text += matcher->to_string();
  }
  return text + "}";
}

RouteFrame enter(const Route& route, const RouteFrame* parent, std::size_t found) {
  const bool own_receiver = parent == nullptr || !route.receiver.empty();
  const bool own_group = parent == nullptr || !route.group_by.empty();
  return {.route = &route,
          .receiver = own_receiver ? &route.receiver : parent->receiver,
          .group_by = own_group ? &route.group_by : parent->group_by,
          .key = (parent == nullptr ? "" : parent->key + "/") + matchers_text(route.matchers),
          .next_child = 0,
          .found_before = found};
}

RouteMatch match_of(const RouteFrame& frame, const Labels& labels) {
  const bool all = std::ranges::find(*frame.group_by, kGroupByAll) != frame.group_by->end();
  Labels group = all ? labels : labels.project(*frame.group_by);
  std::string key = frame.key + ":" + group.to_string();
  return {*frame.receiver, std::move(group), std::move(key)};
}

bool is_known(const std::vector<std::string>& receivers, const std::string& name) {
  return std::ranges::find(receivers, name) != receivers.end();
}

std::string names_of(const std::vector<std::string>& receivers) {
  return receivers.empty() ? "there are no receivers; declare one under `receivers:`"
                           : fmt::format("receivers: {}", fmt::join(receivers, ", "));
}

class RouteChecker {
 public:
  explicit RouteChecker(const std::vector<std::string>& receivers) : receivers_(receivers) {}

  void check(const Route& route, const std::string& path, bool is_root) {
    if (is_root && !route.matchers.empty()) {
      add(path + ".matchers", "the first route must take every alert, so it can't have matchers",
          "move them to an entry of `routes:`");
    }
    if (is_root && route.goes_on) {
      add(path + ".continue", "the first route has no siblings to go on to", "remove `continue`");
    }
    if (is_root && route.receiver.empty()) {
      add(path + ".receiver", "the first route needs a receiver", names_of(receivers_));
    }
    if (!route.receiver.empty() && !is_known(receivers_, route.receiver)) {
      add(path + ".receiver", fmt::format("there is no receiver \"{}\"", route.receiver),
          names_of(receivers_));
    }
    check_group_by(route.group_by, path + ".group_by");
  }

  std::vector<RouteProblem> take() { return std::move(problems_); }

 private:
  void check_group_by(const std::vector<std::string>& names, const std::string& path) {
    std::set<std::string_view> seen;
    for (const std::string& name : names) {
      if (name == kGroupByAll) {
        if (names.size() > 1) {
          add(path, "\"...\" already means every label", "write [...] alone or only label names");
        }
      } else if (!is_label_name(name)) {
        add(path, fmt::format("\"{}\" is not a label name", name), "for example [rule, model]");
      }
      if (!seen.insert(name).second) {
        add(path, fmt::format("\"{}\" is listed twice", name), "keep one of them");
      }
    }
  }
  void add(std::string path, std::string message, std::string hint) {
    problems_.push_back({std::move(path), std::move(message), std::move(hint)});
  }

  const std::vector<std::string>& receivers_;
  std::vector<RouteProblem> problems_;
};

}  // namespace

std::vector<RouteMatch> match(const Route& root, const Labels& labels) {
  std::vector<RouteMatch> found;
  std::vector<RouteFrame> stack;
  if (all_match(root.matchers, labels)) stack.push_back(enter(root, nullptr, 0));
  while (!stack.empty()) {
    RouteFrame& frame = stack.back();
    const auto& children = frame.route->routes;
    while (frame.next_child < children.size() &&
           !all_match(children[frame.next_child].matchers, labels)) {
      ++frame.next_child;
    }
    if (frame.next_child < children.size()) {
      const Route& child = children[frame.next_child];
      frame.next_child = child.goes_on ? frame.next_child + 1 : children.size();
      stack.push_back(enter(child, &frame, found.size()));  // Ends the life of `frame`.
      continue;
    }
    if (found.size() == frame.found_before) found.push_back(match_of(frame, labels));
    stack.pop_back();
  }
  return found;
}

std::vector<RouteProblem> route_problems(const Route& root,
                                         const std::vector<std::string>& receivers) {
  RouteChecker checker(receivers);
  std::vector<std::pair<const Route*, std::string>> waiting = {{&root, "route"}};
  while (!waiting.empty()) {
    const auto [route, path] = std::move(waiting.back());
    waiting.pop_back();
    checker.check(*route, path, route == &root);
    for (std::size_t i = route->routes.size(); i-- > 0;) {
      waiting.emplace_back(&route->routes[i], fmt::format("{}.routes[{}]", path, i));
    }
  }
  return checker.take();
}

}  // namespace outcomed
