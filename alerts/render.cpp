#include "alerts/render.h"

#include <fmt/core.h>

#include <algorithm>

#include "alerts/digest.h"
#include "alerts/text.h"

namespace outcomed {
namespace {

constexpr std::size_t kMaxValue = 8 * 1024;

bool is_taken(const Labels& labels, std::string_view name) { return !labels.get(name).empty(); }

std::string identity_value(std::string_view value) {
  std::string text = repair_utf8(value);
  if (text.size() <= kMaxValue && text == value) return text;
  const std::uint64_t hash = Labels{{"value", std::string(value)}}.fingerprint();
  return cut_text(std::move(text), kMaxValue) + fmt::format(" #{:016x}", hash);
}

// A free valid name for a group label: two of them never share one.
std::string group_label_name(const Labels& taken, std::string_view raw) {
  std::string name = label_name(raw);
  if (is_taken(taken, name)) name.insert(0, "exported_");
  while (is_taken(taken, name)) name += '_';
  return name;
}

std::string annotation_value(std::string_view value) {
  return cut_text(repair_utf8(value), kMaxValue);
}

std::string fact_lines(const Episode& episode) {
  std::string text;
  for (const auto& [name, value] : episode.facts) {
    if (!text.empty()) text += '\n';
    text += one_line(name) + ": " + one_line(value);
  }
  return text;
}

std::string description_of(const Episode& episode) {
  if (!episode.resolved_at) return one_line(episode.sentence);
  const std::string_view reason = episode.resolve_reason;
  if (!episode.resolve_sentence.empty()) {
    // What ended for another reason must not read like a recovery.
    const bool recovered = reason.empty() || reason == kRecovered;
    return recovered ? one_line(episode.resolve_sentence)
                     : fmt::format("Ended without a recovery: {}. {}", one_line(reason),
                                   one_line(episode.resolve_sentence));
  }
  return fmt::format("Resolved{}{} at {}. It had fired because: {}", reason.empty() ? "" : ": ",
                     one_line(reason), format_rfc3339(*episode.resolved_at),
                     one_line(episode.sentence));
}

Labels annotations_of(const Episode& episode, const Labels& rule_annotations) {
  Labels annotations;
  annotations.set("summary", annotation_value(title_of(episode.key)));
  for (const auto& [name, value] : rule_annotations.pairs()) {
    annotations.set(label_name(name), annotation_value(value));
  }
  const std::string_view own = rule_annotations.get("description");
  std::string description = annotation_value(description_of(episode));
  if (!own.empty()) {
    if (!description.empty()) description += '\n';
    description += annotation_value(own);
  }
  annotations.set("description", std::move(description));
  annotations.set("facts", annotation_value(fact_lines(episode)));
  annotations.set("episode", annotation_value(episode.id));
  return annotations;
}

}  // namespace

std::string title_of(const AlertKey& key) {
  std::string text = one_line(repair_utf8(key.rule));
  std::string_view separator = ": ";
  for (const auto& [name, value] : key.group.pairs()) {
    text += separator;
    text += one_line(repair_utf8(name)) + "=" + one_line(repair_utf8(value));
    separator = ", ";
  }
  if (!key.severity.empty()) text += " (" + one_line(repair_utf8(key.severity)) + ")";
  return text;
}

Labels labels_of(const AlertKey& key, const Labels& rule_labels) {
  Labels labels;
  labels.set("alertname", identity_value(key.rule));
  labels.set("severity", identity_value(key.severity));
  for (const auto& [name, value] : key.group.pairs()) {
    labels.set(group_label_name(labels, name), identity_value(value));
  }
  for (const auto& [name, value] : rule_labels.pairs()) {
    std::string valid = label_name(name);
    if (!is_taken(labels, valid)) labels.set(std::move(valid), identity_value(value));
  }
  return labels;
}

AlertMessage render(const Episode& episode, const Labels& rule_annotations,
                    std::string_view generator_url) {
  AlertMessage message;
  message.status = episode.resolved_at ? AlertStatus::resolved : AlertStatus::firing;
  message.labels = labels_of(episode.key, episode.labels);
  message.annotations = annotations_of(episode, rule_annotations);
  message.starts_at = episode.fired_at;
  message.ends_at = episode.resolved_at;
  if (is_web_url(generator_url)) message.generator_url = generator_url;
  message.episode = episode.id;
  return message;
}

Labels routing_labels_of(const Labels& message_labels) {
  Labels labels = message_labels;
  if (!is_taken(labels, "rule")) labels.set("rule", std::string(labels.get("alertname")));
  return labels;
}

std::string idempotency_key(const Message& message) {
  std::vector<std::string> news;
  for (const AlertMessage& alert : message.alerts) {
    news.push_back(alert.episode + (alert.status == AlertStatus::firing ? " firing" : " resolved"));
  }
  std::ranges::sort(news);
  // Lengths before texts: no two lists read the same.
  std::string all = fmt::format("{}:{}", message.receiver.size(), message.receiver);
  for (const std::string& item : news) all += fmt::format("{}:{}", item.size(), item);
  const auto hash = sha256_hex(all);
  return hash ? hash->substr(0, 32) : fmt::format("{:016x}", Labels{{"news", all}}.fingerprint());
}

Message make_message(const RouteMatch& route, std::vector<AlertMessage> alerts,
                     std::string_view external_url) {
  Message message;
  message.receiver = route.receiver;
  message.group_key = route.group_key;
  message.group_labels = route.group_labels;
  if (is_web_url(external_url)) message.external_url = external_url;
  message.alerts = std::move(alerts);
  message.idempotency_key = idempotency_key(message);
  return message;
}

}  // namespace outcomed
