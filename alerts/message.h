// What a receiver is asked to tell, in its final words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alerts/alert.h"
#include "queries/base/labels.h"

namespace outcomed {

enum class AlertStatus : std::uint8_t { firing, resolved };

struct AlertMessage {
  AlertStatus status = AlertStatus::firing;
  Labels labels;       // alertname (the rule), severity, group labels, the rule's own labels.
  Labels annotations;  // summary (title), description (sentence), runbook_url, fact names, …
  Timestamp starts_at;
  std::optional<Timestamp> ends_at;  // Set when resolved.
  std::string generator_url;         // Absolute, or empty.
  std::string episode;               // Episode id: stable across retries and restarts.
};

// One notification: alerts of one group of the route for one receiver.
struct Message {
  std::string idempotency_key;  // The same for every attempt.
  std::string receiver;
  std::string group_key;  // {}/{matchers}:{labels}, as Alertmanager writes it.
  Labels group_labels;
  std::string external_url;
  std::vector<AlertMessage> alerts;
};

std::string to_json(const Message& message);  // Compact; our own storage form.
Result<Message> message_from_json(std::string_view text);

}  // namespace outcomed
