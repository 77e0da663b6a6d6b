#include "daemon/assembly.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "queries/recording/recording_source.h"

namespace outcomed {
namespace {

std::vector<RuleSpec> take_rules(Config& config) {
  std::vector<RuleSpec> specs;
  for (RuleConfig& rule : config.rules) {
    RuleSpec spec;
    spec.name = rule.name;
    spec.kind = rule.kind;
    spec.signal = rule.signal;
    spec.by = rule.by;
    spec.matchers = rule.matchers;
    spec.labels = rule.labels;
    spec.annotations = rule.annotations;
    spec.keep_firing = rule.keep_firing_for;
    spec.identity = rule.identity();
    spec.detector = std::move(rule.detector);
    specs.push_back(std::move(spec));
  }
  return specs;
}

bool is_judged(const Config& config, const std::string& signal) {
  return std::ranges::any_of(config.rules,
                             [&](const RuleConfig& rule) { return rule.signal == signal; });
}

// Signals that some rule judges, by source; `compared`: and those that such a one is compared with.
std::map<std::string, std::vector<SignalPlan>> plans_by_source(const Config& config,
                                                               bool compared) {
  std::map<std::string, std::vector<SignalPlan>> plans;
  for (const SignalPlan& plan : config.signals) {
    const bool used = is_judged(config, plan.name) ||
                      (compared && !plan.same_as.empty() && is_judged(config, plan.same_as));
    if (used) plans[plan.source].push_back(narrowed(plan, config.rules));
  }
  return plans;
}

// What of a source is asked together: signals of one step. Each query of a user's own is asked
// alone, so that one that fails blinds nobody else.
std::vector<std::pair<std::string, std::vector<SignalPlan>>> units_of(
    const std::string& source, std::vector<SignalPlan> plans) {
  std::vector<std::pair<std::string, std::vector<SignalPlan>>> units;
  for (SignalPlan& plan : plans) {
    const auto fits = [&](const auto& unit) {
      const SignalPlan& first = unit.second.front();
      return plan.sql.empty() && first.sql.empty() && first.step == plan.step;
    };
    const auto unit = std::ranges::find_if(units, fits);
    if (unit != units.end()) {
      unit->second.push_back(std::move(plan));
      continue;
    }
    const std::string what = plan.sql.empty() ? format_duration(plan.step) : plan.name;
    units.push_back({units.empty() ? source : source + "/" + what, {}});
    units.back().second.push_back(std::move(plan));
  }
  // With several the first has a name of its own, too, unless it is the source's main one.
  if (units.size() > 1 && !units.front().second.front().sql.empty()) {
    units.front().first = source + "/" + units.front().second.front().name;
  }
  return units;
}

// Without a route everything goes to the first receiver.
Route root_of(const Config& config) {
  if (config.route) return *config.route;
  Route route;
  if (!config.receivers.empty()) route.receiver = config.receivers.front().name;
  return route;
}

}  // namespace

SignalPlan narrowed(const SignalPlan& offered, const std::vector<RuleConfig>& rules,
                    const std::vector<std::string>& extra) {
  std::set<std::string> used(extra.begin(), extra.end());
  for (const RuleConfig& rule : rules) {
    if (rule.signal != offered.name) continue;
    used.insert(rule.by.begin(), rule.by.end());
    if (rule.detector) {
      for (const std::string& label : rule.detector->member_labels()) used.insert(label);
    }
    for (const Matcher& matcher : rule.matchers) used.insert(matcher.name());
  }
  for (const Matcher& matcher : offered.neutral) used.insert(matcher.name());
  SignalPlan plan = offered;
  const auto keep_used = [&](std::vector<std::string>& labels, std::vector<std::string>& unused) {
    for (const std::string& label : labels) {
      if (!used.contains(label)) unused.push_back(label);
    }
    std::erase_if(labels, [&](const std::string& label) { return !used.contains(label); });
  };
  keep_used(plan.labels, plan.unused_labels);
  keep_used(plan.failure_labels, plan.unused_failure_labels);
  return plan;
}

Result<Assembly> assemble(Config& config, HttpClients http, SecretReader& secrets,
                          const std::function<Timestamp()>& now) {
  Assembly assembly;
  for (auto& [name, plans] : plans_by_source(config, true)) {
    const SourceConfig* source = config.source(name);
    if (source == nullptr) {
      return Error{ErrorKind::invalid, fmt::format("there is no source {}", name)};
    }
    for (auto& [unit, of_unit] : units_of(name, std::move(plans))) {
      auto made = make_source(*source, of_unit, http.sources, secrets);
      if (!made) return std::move(made).error().while_doing("source " + name);
      assembly.sources.push_back({unit, *std::move(made), source->delay, std::move(of_unit)});
    }
  }
  std::vector<QueuedPart> parts;
  for (const ReceiverConfig& receiver : config.receivers) {
    for (std::size_t i = 0; i < receiver.parts.size(); ++i) {
      auto made = make_receiver(receiver.parts[i], http.receivers, secrets, now);
      if (!made) return std::move(made).error().while_doing("receiver " + receiver.name);
      if (auto* mirrors = std::get_if<std::vector<std::shared_ptr<Mirror>>>(&*made)) {
        for (auto& mirror : *mirrors)
          assembly.mirrors.push_back({receiver.name, std::move(mirror)});
        continue;
      }
      const std::string outbox =
          receiver.parts.size() == 1 ? receiver.name : fmt::format("{}/{}", receiver.name, i + 1);
      parts.push_back({receiver.name, outbox});
      assembly.queued.push_back({outbox, std::get<std::shared_ptr<Receiver>>(*made)});
    }
  }
  std::map<std::string, Labels> annotations;
  for (const RuleConfig& rule : config.rules) annotations[rule.name] = rule.annotations;
  std::string external_url = config.http.external_url;
  while (external_url.ends_with('/')) external_url.pop_back();
  assembly.announcer = std::make_shared<const Announcer>(root_of(config), std::move(parts),
                                                         std::move(annotations), external_url);
  assembly.rules = take_rules(config);
  return assembly;
}

Result<Assembly> assemble_replay(Config& config, const std::string& recording) {
  Assembly assembly;
  std::vector<SignalPlan> plans;
  for (auto& [source, of_source] : plans_by_source(config, false)) {
    for (SignalPlan& plan : of_source) {
      plan.sql.clear();
      plan.anchor = {};  // Steps of recordings are multiples since the epoch.
      plans.push_back(std::move(plan));
    }
  }
  if (plans.empty()) return Error{ErrorKind::invalid, "no rule judges any signal"};
  for (auto& [unit, of_unit] : units_of("recording", std::move(plans))) {
    auto source = std::make_shared<RecordingSource>(RecordingSettings{recording}, of_unit);
    assembly.sources.push_back({unit, std::move(source), {}, std::move(of_unit)});
  }
  assembly.announcer = std::make_shared<const Announcer>(Route{}, std::vector<QueuedPart>{},
                                                         std::map<std::string, Labels>{}, "");
  assembly.rules = take_rules(config);
  return assembly;
}

}  // namespace outcomed
