#include "daemon/state_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "alerts/render.h"
#include "detectors/sentence.h"

namespace outcomed {
namespace {

using nlohmann::json;

json pairs(const Labels& labels) {
  json object = json::object();
  for (const auto& [name, value] : labels.pairs()) object[name] = value;
  return object;
}

json time_or_null(Timestamp t) {
  return t == Timestamp{} ? json(nullptr) : json(format_rfc3339(t));
}

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json alert_of(const RuleSpec& rule, const RuleRunner::GroupView& view) {
  const Verdict verdict = view.fold->verdict(view.tier);
  return {
      {"labels", pairs(labels_of(view.state->key, rule.labels))},
      {"annotations", {{"summary", title_of(view.state->key)}, {"description", verdict.sentence}}},
      {"state", to_string(view.state->phase)},
      {"activeAt", time_or_null(view.state->pending_at)},
      {"firedAt",
       view.state->phase == Phase::firing ? time_or_null(view.state->fired_at) : json(nullptr)},
      {"value", fmt::format("{:.6g}", verdict.measured)}};
}

// Why the alert is where it is, in words.
std::string why(const RuleRunner::GroupView& view, const Verdict& verdict, const Tier& tier) {
  const AlertState& state = *view.state;
  const std::string share = format_share(verdict.measured);
  const std::string line = format_share(verdict.threshold);
  switch (verdict.judgement) {
    case Judgement::no_data:
      return "the last step was not seen: the phase is held";
    case Judgement::partial:
      return "the source says that data is missing: the phase is held";
    case Judgement::failed:
      return "the source's numbers can't be trusted: the phase is held";
    case Judgement::too_few:
      return format_amount(verdict.facts, "n", verdict.n) + " in the window are too few to judge";
    case Judgement::healthy:
      return fmt::format("{} is on the good side of {}", share, line);
    case Judgement::lingering:
      return state.phase == Phase::firing
                 ? fmt::format("{} is not yet below the line that ends it", share)
                 : fmt::format("{} ({} of {}) would keep an alert going, but not start one", share,
                               format_amount(verdict.facts, "k", verdict.k),
                               format_amount(verdict.facts, "n", verdict.n));
    case Judgement::breached:
      break;
  }
  if (state.phase == Phase::firing) {
    return fmt::format("{} is beyond {}; fired at {}", share, line, format_rfc3339(state.fired_at));
  }
  return fmt::format("{} is beyond {}; fires at {} if it stays so", share, line,
                     format_rfc3339(state.pending_at + tier.hold));
}

json group_of(const RuleRunner::GroupView& view, const RuleSpec& rule) {
  const Tier& tier = rule.detector->tiers()[view.tier];
  const Verdict verdict = view.fold->verdict(view.tier);
  json facts = json::array();
  for (const auto& [name, value] : verdict.facts)
    facts.push_back({{"name", name}, {"value", value}});
  return {
      {"labels", pairs(view.labels)},
      {"severity", tier.severity},
      {"phase", to_string(view.state->phase)},
      {"judgement", to_string(verdict.judgement)},
      {"at", time_or_null(verdict.at)},
      {"pending_at",
       view.state->phase == Phase::inactive ? json(nullptr) : time_or_null(view.state->pending_at)},
      {"k", verdict.k},
      {"n", verdict.n},
      {"measured", verdict.n > 0 ? json(verdict.measured) : json(nullptr)},
      {"threshold", verdict.threshold},
      {"low", verdict.low},
      {"high", verdict.high},
      {"why", why(view, verdict, tier)},
      {"sentence", verdict.sentence},
      {"facts", std::move(facts)}};
}

// The members of a rule but its alerts.
json rule_of(const RuleSpec& rule, std::string_view state) {
  json tiers = json::array();
  for (const Tier& tier : rule.detector->tiers()) {
    tiers.push_back({{"severity", tier.severity},
                     {"for", format_duration(tier.hold)},
                     {"threshold", tier.threshold}});
  }
  return {{"name", rule.name},
          {"type", "alerting"},
          {"kind", rule.kind},
          {"signal", rule.signal},
          {"by", rule.by},
          {"tiers", std::move(tiers)},
          {"labels", pairs(rule.labels)},
          {"annotations", pairs(rule.annotations)},
          {"state", state},
          {"health", "ok"}};
}

json own_alert_of(const Episode& episode, const AlertMessage& message) {
  return {{"labels", pairs(message.labels)},
          {"annotations", pairs(message.annotations)},
          {"state", "firing"},
          {"activeAt", time_or_null(episode.pending_at)},
          {"firedAt", time_or_null(episode.fired_at)},
          {"value", "1"}};
}

void add_item(std::string& list, std::string_view item) {
  if (!list.empty()) list += ',';
  list += item;
}

}  // namespace

StateJson state_json(const Engine& engine, const Announcer& announcer) {
  std::string alerts;
  std::string rules;
  for (const RuleSpec& rule : engine.rules()) {
    std::string own;
    std::string_view state = "inactive";
    for (const auto& view : engine.active(rule.name)) {
      add_item(own, dump(alert_of(rule, view)));
      if (view.state->phase == Phase::firing) state = "firing";
      if (state == "inactive") state = "pending";
    }
    if (!own.empty()) add_item(alerts, own);
    std::string text = dump(rule_of(rule, state));
    text.back() = ',';  // Instead of the closing brace.
    add_item(rules, text + "\"alerts\":[" + own + "]}");
  }
  for (const auto& [key, episode] : engine.open_episodes()) {
    // What no rule of the configuration raised is our own: source_down, config_broken, ….
    if (std::ranges::find(engine.rules(), key.rule, &RuleSpec::name) != engine.rules().end()) {
      continue;
    }
    add_item(alerts, dump(own_alert_of(episode, announcer.message(episode, AlertStatus::firing))));
  }
  return {
      R"({"status":"success","data":{"alerts":[)" + alerts + "]}}",
      R"({"status":"success","data":{"groups":[{"name":"outcomed","rules":[)" + rules + "]}]}}"};
}

std::string explain_json(const Engine& engine, const std::string& rule_name,
                         const Matchers& matchers) {
  const auto rule = std::ranges::find(engine.rules(), rule_name, &RuleSpec::name);
  if (rule == engine.rules().end()) return {};
  json groups = json::array();
  for (const auto& view : engine.groups(rule_name)) {
    if (all_match(matchers, view.labels)) groups.push_back(group_of(view, *rule));
  }
  const std::string silence = engine.silence(rule->signal);
  return dump({{"status", "success"},
               {"rule", rule_name},
               {"source_error", silence.empty() ? json(nullptr) : json(silence)},
               {"counting", engine.facts(rule->signal)},
               {"groups", std::move(groups)}});
}

}  // namespace outcomed
