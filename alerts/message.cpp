#include "alerts/message.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "alerts/text.h"

namespace outcomed {
namespace {

using nlohmann::json;

json labels_to_json(const Labels& labels) {
  json object = json::object();
  for (const auto& [name, value] : labels.pairs()) object[repair_utf8(name)] = repair_utf8(value);
  return object;
}

json alert_to_json(const AlertMessage& alert) {
  json object = {{"status", alert.status == AlertStatus::firing ? "firing" : "resolved"},
                 {"labels", labels_to_json(alert.labels)},
                 {"annotations", labels_to_json(alert.annotations)},
                 {"starts_at", unix_ms(alert.starts_at)},
                 {"generator_url", repair_utf8(alert.generator_url)},
                 {"episode", repair_utf8(alert.episode)}};
  if (alert.ends_at) object["ends_at"] = unix_ms(*alert.ends_at);
  return object;
}

// Reads the members of one object and remembers the first thing that is wrong.
class MemberReader {
 public:
  MemberReader(const json& object, std::string where, std::string& problem)
      : object_(object), where_(std::move(where)), problem_(problem) {
    if (!object_.is_object() && problem_.empty()) {
      problem_ = fmt::format("{} is not an object", where_.empty() ? "it" : where_);
    }
  }

  std::string text(const char* name) {
    const json* value = find(name, true);
    if (value == nullptr) return {};
    if (const auto* string = value->get_ptr<const json::string_t*>()) return *string;
    fail(name, "is not a string");
    return {};
  }
  std::optional<Timestamp> time(const char* name, bool required) {
    const json* value = find(name, required);
    if (value == nullptr) return std::nullopt;
    // Larger numbers than int64 holds are kept as unsigned by the parser.
    if (const auto* ms = value->get_ptr<const json::number_integer_t*>();
        ms != nullptr && !value->is_number_unsigned()) {
      return from_unix_ms(*ms);
    }
    if (const auto* ms = value->get_ptr<const json::number_unsigned_t*>();
        ms != nullptr && *ms <= static_cast<std::uint64_t>(INT64_MAX)) {
      return from_unix_ms(static_cast<std::int64_t>(*ms));
    }
    fail(name, "is not a time in milliseconds");
    return std::nullopt;
  }
  Labels labels(const char* name) {
    Labels labels;
    const json* value = find(name, true);
    if (value == nullptr) return labels;
    if (!value->is_object()) fail(name, "is not an object");
    for (const auto& [key, item] : value->items()) {
      const auto* string = item.get_ptr<const json::string_t*>();
      if (string == nullptr) {
        fail(name, "has a value that is not a string");
        break;
      }
      labels.set(key, *string);
    }
    return labels;
  }
  const json* list(const char* name) {
    const json* value = find(name, true);
    if (value == nullptr || value->is_array()) return value;
    fail(name, "is not a list");
    return nullptr;
  }
  void fail(std::string_view name, std::string_view what) {
    if (!problem_.empty()) return;
    problem_ = fmt::format("{}{}{} {}", where_, where_.empty() ? "" : ".", name, what);
  }

 private:
  const json* find(const char* name, bool required) {
    if (!object_.is_object()) return nullptr;
    const auto at = object_.find(name);
    if (at != object_.end()) return &*at;
    if (required) fail(name, "is missing");
    return nullptr;
  }

  const json& object_;
  std::string where_;
  std::string& problem_;
};

AlertMessage alert_from_json(MemberReader reader) {
  AlertMessage alert;
  const std::string status = reader.text("status");
  if (status != "firing" && status != "resolved") {
    reader.fail("status", "is neither firing nor resolved");
  }
  alert.status = status == "resolved" ? AlertStatus::resolved : AlertStatus::firing;
  alert.labels = reader.labels("labels");
  alert.annotations = reader.labels("annotations");
  alert.starts_at = reader.time("starts_at", true).value_or(Timestamp{});
  alert.ends_at = reader.time("ends_at", false);
  alert.generator_url = reader.text("generator_url");
  alert.episode = reader.text("episode");
  return alert;
}

Message message_from_tree(const json& tree, std::string& problem) {
  MemberReader reader(tree, "", problem);
  Message message;
  message.idempotency_key = reader.text("idempotency_key");
  message.receiver = reader.text("receiver");
  message.group_key = reader.text("group_key");
  message.group_labels = reader.labels("group_labels");
  message.external_url = reader.text("external_url");
  const json* alerts = reader.list("alerts");
  if (alerts == nullptr) return message;
  for (std::size_t i = 0; i < alerts->size(); ++i) {
    message.alerts.push_back(
        alert_from_json(MemberReader((*alerts)[i], fmt::format("alerts[{}]", i), problem)));
  }
  return message;
}

}  // namespace

std::string to_json(const Message& message) {
  json alerts = json::array();
  for (const AlertMessage& alert : message.alerts) alerts.push_back(alert_to_json(alert));
  const json tree = {{"idempotency_key", repair_utf8(message.idempotency_key)},
                     {"receiver", repair_utf8(message.receiver)},
                     {"group_key", repair_utf8(message.group_key)},
                     {"group_labels", labels_to_json(message.group_labels)},
                     {"external_url", repair_utf8(message.external_url)},
                     {"alerts", std::move(alerts)}};
  return tree.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Message> message_from_json(std::string_view text) {
  try {
    const json tree = json::parse(text, nullptr, false);
    if (tree.is_discarded()) return Error{ErrorKind::corrupt, "stored message: not JSON"};
    std::string problem;
    Message message = message_from_tree(tree, problem);
    if (!problem.empty()) return Error{ErrorKind::corrupt, "stored message: " + problem};
    return message;
  } catch (const json::exception& e) {
    return Error{ErrorKind::corrupt, fmt::format("stored message: {}", e.what())};
  }
}

}  // namespace outcomed
