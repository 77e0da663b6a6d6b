#include "alerts/alertmanager/payload.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "alerts/text.h"

namespace outcomed {
namespace {

using nlohmann::ordered_json;

// Two names that become the same valid one both stay: the alert's identity must not shrink.
Labels classic_names(const Labels& labels) {
  const Labels repaired = repair_utf8(labels);
  Labels out;
  for (const auto& [name, value] : repaired.pairs()) {
    if (is_label_name(name)) out.set(name, value);
  }
  for (const auto& [name, value] : repaired.pairs()) {
    if (is_label_name(name)) continue;
    std::string valid = label_name(name);
    while (!out.get(valid).empty()) valid += '_';
    out.set(std::move(valid), value);
  }
  return out;
}

ordered_json wire_labels(const Labels& labels) {
  ordered_json object = ordered_json::object();
  for (const auto& [name, value] : labels.pairs()) object[name] = value;
  return object;
}

// Years 1970 to 9999: others can't be written as RFC 3339, and one such time spoils the whole body.
Timestamp writable(Timestamp t) {
  return std::clamp(t, from_unix_ms(0), from_unix_ms(253'402'300'799'000));
}

bool replaces(const AlertMessage& a, const AlertMessage& b) {
  if (a.status != b.status) return a.status == AlertStatus::firing;
  if (a.status == AlertStatus::firing) return a.starts_at > b.starts_at;
  return a.ends_at > b.ends_at;
}

}  // namespace

std::vector<AlertMessage> sendable(const std::vector<AlertMessage>& state, Timestamp firing_until) {
  std::vector<AlertMessage> alerts;
  std::map<Labels, std::size_t> place;
  for (AlertMessage alert : state) {
    alert.labels = classic_names(alert.labels);
    if (alert.labels.empty()) continue;
    const auto [at, is_new] = place.try_emplace(alert.labels, alerts.size());
    if (is_new) {
      alerts.push_back(std::move(alert));
    } else if (replaces(alert, alerts[at->second])) {
      alerts[at->second] = std::move(alert);
    }
  }
  for (AlertMessage& alert : alerts) {
    alert.annotations = classic_names(alert.annotations);
    if (alert.status == AlertStatus::firing) alert.ends_at = firing_until;
    alert.starts_at = writable(alert.starts_at);
    alert.ends_at = std::max(writable(alert.ends_at.value_or(alert.starts_at)), alert.starts_at);
  }
  return alerts;
}

std::string alertmanager_body(std::span<const AlertMessage> alerts) {
  ordered_json list = ordered_json::array();
  for (const AlertMessage& alert : alerts) {
    ordered_json object = {{"labels", wire_labels(alert.labels)},
                           {"annotations", wire_labels(alert.annotations)},
                           {"startsAt", format_rfc3339(alert.starts_at)}};
    if (alert.ends_at) object["endsAt"] = format_rfc3339(*alert.ends_at);
    if (is_web_url(alert.generator_url)) object["generatorURL"] = alert.generator_url;
    list.push_back(std::move(object));
  }
  return list.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace outcomed
