#include "daemon/storage/row_codec.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "queries/base/codec.h"

namespace outcomed {
namespace {

using nlohmann::json;

// The strict serializer is the judge of UTF-8; it throws on anything else.
std::optional<std::string> to_json_text(const json& value) {
  try {
    return value.dump();
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::optional<Labels> labels_of_json(const std::string& text) {
  const json value = json::parse(text, nullptr, false);
  if (!value.is_object()) return std::nullopt;
  Labels labels;
  for (const auto& [name, held] : value.items()) {
    if (!held.is_string()) return std::nullopt;
    labels.set(name, held.get<std::string>());
  }
  return labels;
}

std::optional<TextPairs> pairs_of_json(const std::string& text) {
  const json value = json::parse(text, nullptr, false);
  if (!value.is_array()) return std::nullopt;
  TextPairs pairs;
  for (const json& item : value) {
    if (!item.is_array() || item.size() != 2 || !item[0].is_string() || !item[1].is_string()) {
      return std::nullopt;
    }
    pairs.emplace_back(item[0].get<std::string>(), item[1].get<std::string>());
  }
  return pairs;
}

std::optional<Labels> labels_of_bytes(const std::string& bytes) {
  Reader reader(bytes);
  Labels labels = reader.labels();
  if (!reader.at_end()) return std::nullopt;
  return labels;
}

std::optional<TextPairs> pairs_of_bytes(const std::string& bytes) {
  Reader reader(bytes);
  TextPairs pairs;
  for (std::uint64_t left = reader.u64(); left > 0 && reader.ok(); --left) {
    std::string name = reader.text();
    pairs.emplace_back(std::move(name), reader.text());
  }
  if (!reader.at_end()) return std::nullopt;
  return pairs;
}

}  // namespace

Packed pack(const Labels& labels) {
  json object = json::object();
  for (const auto& [name, value] : labels.pairs()) object[name] = value;
  if (auto text = to_json_text(object)) return {std::move(*text), true};
  Writer writer;
  writer.labels(labels);
  return {writer.take(), false};
}

Packed pack(const TextPairs& pairs) {
  json list = json::array();
  for (const auto& [name, value] : pairs) list.push_back(json::array({name, value}));
  if (auto text = to_json_text(list)) return {std::move(*text), true};
  Writer writer;
  writer.u64(pairs.size());
  for (const auto& [name, value] : pairs) {
    writer.text(name);
    writer.text(value);
  }
  return {writer.take(), false};
}

std::string_view status_name(AlertStatus status) {
  return status == AlertStatus::resolved ? "resolved" : "firing";
}

void RowReader::object(std::string what) {
  if (problem_.empty()) problem_ = fmt::format("column {}: {}", next_, what);
}

Status RowReader::status() const {
  if (problem_.empty()) return ok();
  return row_.corrupt(problem_);
}

std::optional<Timestamp> RowReader::optional_time() {
  if (!row_.is_null(next_)) return time();
  ++next_;
  return std::nullopt;
}

Labels RowReader::labels() {
  const bool is_blob = row_.is_blob(next_);
  const std::string bytes = text();
  auto labels = is_blob ? labels_of_bytes(bytes) : labels_of_json(bytes);
  if (!labels) object("not a label set");
  return labels ? std::move(*labels) : Labels();
}

TextPairs RowReader::pairs() {
  const bool is_blob = row_.is_blob(next_);
  const std::string bytes = text();
  auto pairs = is_blob ? pairs_of_bytes(bytes) : pairs_of_json(bytes);
  if (!pairs) object("not a list of names and values");
  return pairs ? std::move(*pairs) : TextPairs();
}

AlertKey RowReader::key() {
  AlertKey key;
  key.rule = text();
  key.severity = text();
  key.group = labels();
  return key;
}

Phase RowReader::phase() {
  const std::string name = text();
  for (const Phase phase : {Phase::inactive, Phase::pending, Phase::firing}) {
    if (to_string(phase) == name) return phase;
  }
  object("not a phase");
  return Phase::inactive;
}

AlertStatus RowReader::alert_status() {
  const std::string name = text();
  for (const AlertStatus status : {AlertStatus::firing, AlertStatus::resolved}) {
    if (status_name(status) == name) return status;
  }
  object("neither firing nor resolved");
  return AlertStatus::firing;
}

OutboxState RowReader::outbox_state() {
  const std::string name = text();
  for (const OutboxState state :
       {OutboxState::queued, OutboxState::delivered, OutboxState::superseded, OutboxState::dead}) {
    if (to_string(state) == name) return state;
  }
  object("not a state of a delivery");
  return OutboxState::queued;
}

Message RowReader::message() {
  auto message = message_from_json(text());
  if (!message) object("not a message: " + message.error().message);
  return message ? std::move(*message) : Message();
}

}  // namespace outcomed
