// What can be said only once the whole main file was read.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "daemon/config/loading.h"
#include "daemon/config/words.h"

namespace outcomed {
namespace {

// A source reads all its counters in one step.
void check_common_steps(Section& section) {
  std::map<std::string, const SignalPlan*> first;
  for (const SignalPlan& signal : section.loading.config.signals) {
    if (signal.terms.empty()) continue;
    const auto [known, fresh] = first.emplace(signal.source, &signal);
    const std::string path = join_path(join_path("signals", signal.name), "step");
    if (fresh || known->second->step == signal.step) continue;
    if (section.problems.has_problem_at(path, 0)) continue;
    const Node::Entry* all = section.top.take("signals");
    const Node::Entry* own = all ? all->value.find(signal.name) : nullptr;
    const Node::Entry* step = own ? own->value.find("step") : nullptr;
    section.problems.add(
        step  ? step->value.place
        : own ? own->place
              : Place{},
        path,
        fmt::format("{} differs from the step of signal {} ({}) of the same source",
                    format_duration(signal.step), known->second->name,
                    format_duration(known->second->step)),
        "use one step, or name the source twice");
  }
}

// A setting of the source that doesn't suit the shortest step of its signals, once.
void check_source_steps(Section& section) {
  const Loading& loading = section.loading;
  const Node::Entry* all = section.top.take("sources");
  for (const SourceConfig& source : loading.config.sources) {
    const SourceEntry* entry = find_kind(loading.catalogs.sources, source.kind);
    if (entry == nullptr || entry->step_bound == nullptr || source.settings == nullptr) continue;
    const StepBound bound = entry->step_bound(*source.settings);
    const SignalPlan* shortest = nullptr;
    for (const SignalPlan& signal : loading.config.signals) {
      if (signal.source != source.name) continue;
      if (shortest == nullptr || signal.step < shortest->step) shortest = &signal;
    }
    if (shortest == nullptr || bound.value < shortest->step) continue;
    if (bound.may_equal && bound.value == shortest->step) continue;
    const std::string path = join_path(join_path("sources", source.name), bound.setting);
    if (section.problems.has_problem_at(path, 0)) continue;
    const Node::Entry* own = all ? all->value.find(source.name) : nullptr;
    const Node::Entry* written = own ? own->value.find(bound.setting) : nullptr;
    section.problems.add(
        written ? written->value.place
        : own   ? own->place
                : Place{},
        path,
        fmt::format("{} is {} the step {} of signal {}", format_duration(bound.value),
                    bound.may_equal ? "longer than" : "not shorter than",
                    format_duration(shortest->step), shortest->name),
        std::string(bound.why));
  }
}

void used_receivers(const Route& root, std::set<std::string, std::less<>>& used) {
  std::vector<const Route*> open = {&root};
  while (!open.empty()) {
    const Route* route = open.back();
    open.pop_back();
    used.insert(route->receiver);
    for (const Route& child : route->routes) open.push_back(&child);
  }
}

void check_receivers(Section& section) {
  Config& config = section.loading.config;
  ProblemSink notes(section.problems.file(), section.loading.notes);
  const Node::Entry* list = section.top.take("receivers");
  const bool has_route = section.top.take("route") != nullptr;
  if (!has_route &&
      (!list || (list->value.kind == Node::Kind::sequence && list->value.items.empty()))) {
    notes.add({}, "receivers", "there are none: nobody will be told",
              "write receivers: and route:");
  }
  if (!has_route && config.receivers.size() == 1) {
    config.route = Route{};
    config.route->receiver = config.receivers.front().name;
  }
  if (!has_route && list != nullptr && config.receivers.size() > 1) {
    section.problems.add(
        list->value.place, "receivers", "no route says which of them is told",
        fmt::format("write route: {{receiver: {}}}", config.receivers.front().name));
  }
  if (!config.route) return;
  std::set<std::string, std::less<>> used;
  used_receivers(*config.route, used);
  for (const ReceiverConfig& receiver : config.receivers) {
    if (receiver.name.empty() || used.contains(receiver.name)) continue;
    notes.add(receiver.place, "receivers",
              fmt::format("no route leads to {}", shown(receiver.name)),
              "name it in a route, or remove it");
  }
}

void check_any_signal(Section& section) {
  if (section.top.take("presets") || section.top.take("signals")) return;
  section.problems.add({1, 1}, "signals", "there are none",
                       "write presets: [{litellm: {metrics: …}}], or signals: of your own");
}

}  // namespace

void check_whole(Section& section) {
  check_any_signal(section);
  check_common_steps(section);
  check_source_steps(section);
  check_receivers(section);
}

}  // namespace outcomed
