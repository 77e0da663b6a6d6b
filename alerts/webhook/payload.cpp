#include "alerts/webhook/payload.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "alerts/text.h"

namespace outcomed {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kNoEnd =
    "0001-01-01T00:00:00Z";  // Go's zero time, as Alertmanager sends.

ordered_json payload_labels(const Labels& labels) {
  ordered_json object = ordered_json::object();
  for (const auto& [name, value] : labels.pairs()) object[name] = value;
  return object;
}

// The pairs that all alerts share.
Labels common(const std::vector<AlertMessage>& alerts, Labels AlertMessage::*member) {
  Labels shared;
  if (alerts.empty()) return shared;
  for (const auto& [name, value] : (alerts.front().*member).pairs()) {
    const bool everywhere = std::ranges::all_of(
        alerts, [&](const AlertMessage& alert) { return (alert.*member).get(name) == value; });
    if (everywhere) shared.set(name, value);
  }
  return shared;
}

ordered_json payload_alert(const AlertMessage& alert) {
  return {{"status", alert.status == AlertStatus::firing ? "firing" : "resolved"},
          {"labels", payload_labels(alert.labels)},
          {"annotations", payload_labels(alert.annotations)},
          {"startsAt", format_rfc3339(alert.starts_at)},
          {"endsAt", alert.ends_at ? format_rfc3339(*alert.ends_at) : std::string(kNoEnd)},
          {"generatorURL", repair_utf8(alert.generator_url)},
          {"fingerprint", fmt::format("{:016x}", alert.labels.fingerprint())}};
}

}  // namespace

std::string webhook_body(const Message& message, std::size_t max_alerts) {
  std::vector<AlertMessage> alerts = message.alerts;
  for (AlertMessage& alert : alerts) {
    alert.labels = repair_utf8(alert.labels);
    alert.annotations = repair_utf8(alert.annotations);
  }
  const bool firing = std::ranges::any_of(
      alerts, [](const AlertMessage& alert) { return alert.status == AlertStatus::firing; });
  const std::size_t all = alerts.size();
  if (max_alerts > 0 && all > max_alerts) alerts.resize(max_alerts);

  ordered_json list = ordered_json::array();
  for (const AlertMessage& alert : alerts) list.push_back(payload_alert(alert));
  const ordered_json body = {
      {"receiver", repair_utf8(message.receiver)},
      {"status", firing ? "firing" : "resolved"},
      {"alerts", std::move(list)},
      {"groupLabels", payload_labels(repair_utf8(message.group_labels))},
      {"commonLabels", payload_labels(common(alerts, &AlertMessage::labels))},
      {"commonAnnotations", payload_labels(common(alerts, &AlertMessage::annotations))},
      {"externalURL", repair_utf8(message.external_url)},
      {"version", "4"},
      {"groupKey", repair_utf8(message.group_key)},
      {"truncatedAlerts", all - alerts.size()}};
  return body.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace outcomed
