#include "daemon/episode_json.h"

#include <nlohmann/json.hpp>

namespace outcomed {
namespace {

using nlohmann::json;

json time_or_null(std::optional<Timestamp> t) {
  return t && *t != Timestamp{} ? json(format_rfc3339(*t)) : json(nullptr);
}

json labels_json(const Labels& labels) {
  json object = json::object();
  for (const auto& [name, value] : labels.pairs()) object[name] = value;
  return object;
}

json to_object(const Episode& episode) {
  json facts = json::array();
  for (const auto& [name, value] : episode.facts)
    facts.push_back({{"name", name}, {"value", value}});
  return {{"id", episode.id},
          {"rule", episode.key.rule},
          {"labels", labels_json(episode.key.group)},
          {"severity", episode.key.severity},
          {"rule_labels", labels_json(episode.labels)},
          {"onset", time_or_null(episode.onset)},
          {"pending_at", time_or_null(episode.pending_at)},
          {"fired_at", time_or_null(episode.fired_at)},
          {"resolved_at", time_or_null(episode.resolved_at)},
          {"resolve_reason", episode.resolve_reason},
          {"k", episode.k},
          {"n", episode.n},
          {"measured", episode.measured},
          {"threshold", episode.threshold},
          {"sentence", episode.sentence},
          {"resolve_sentence", episode.resolve_sentence},
          {"facts", std::move(facts)},
          {"config_hash", episode.config_hash}};
}

json list_of(const std::vector<Episode>& episodes) {
  json list = json::array();
  for (const Episode& episode : episodes) list.push_back(to_object(episode));
  return list;
}

// Text of labels may hold anything: what is no UTF-8 becomes U+FFFD.
std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

Labels labels_from(const json& object) {
  Labels labels;
  for (const auto& [name, value] : object.items()) labels.set(name, value.get<std::string>());
  return labels;
}

Timestamp time_from(const json& value) {
  if (!value.is_string()) return {};
  const auto t = parse_timestamp(value.get<std::string>());
  return t ? *t : Timestamp{};
}

Episode from_object(const json& object) {
  Episode episode;
  episode.id = object.at("id");
  episode.key = {object.at("rule"), object.at("severity"), labels_from(object.at("labels"))};
  episode.labels = labels_from(object.at("rule_labels"));
  episode.onset = time_from(object.at("onset"));
  episode.pending_at = time_from(object.at("pending_at"));
  episode.fired_at = time_from(object.at("fired_at"));
  if (!object.at("resolved_at").is_null())
    episode.resolved_at = time_from(object.at("resolved_at"));
  episode.resolve_reason = object.at("resolve_reason");
  episode.k = object.at("k");
  episode.n = object.at("n");
  episode.measured = object.at("measured");
  episode.threshold = object.at("threshold");
  episode.sentence = object.at("sentence");
  episode.resolve_sentence = object.at("resolve_sentence");
  for (const json& fact : object.at("facts")) {
    episode.facts.emplace_back(fact.at("name").get<std::string>(),
                               fact.at("value").get<std::string>());
  }
  episode.config_hash = object.at("config_hash");
  return episode;
}

Error foreign_answer() {
  return {ErrorKind::corrupt,
          "what answers at http.listen isn't the API of this version of outcomed"};
}

}  // namespace

std::string episode_json(const Episode& episode, std::span<const OutboxRow> deliveries) {
  json object = to_object(episode);
  json list = json::array();
  for (const OutboxRow& row : deliveries) {
    list.push_back({{"receiver", row.receiver},
                    {"status", row.status == AlertStatus::firing ? "firing" : "resolved"},
                    {"state", to_string(row.state)},
                    {"attempts", row.attempts},
                    {"queued_at", time_or_null(row.created_at)},
                    {"settled_at", time_or_null(row.settled_at)},
                    {"answer", row.last_answer},
                    {"idempotency_key", row.message.idempotency_key}});
  }
  object["deliveries"] = std::move(list);
  return dump(object);
}

std::string episodes_json(const std::vector<Episode>& episodes) {
  return dump({{"status", "success"}, {"episodes", list_of(episodes)}});
}

std::string backtest_json(TimeRange range, std::uint64_t buckets,
                          const std::vector<Problem>& problems,
                          const std::vector<Episode>& episodes) {
  json said = json::array();
  for (const Problem& problem : problems) {
    said.push_back(
        {{"what", problem.what}, {"where", problem.where}, {"message", problem.message}});
  }
  return dump({{"from", format_rfc3339(range.begin)},
               {"to", format_rfc3339(range.end)},
               {"buckets", buckets},
               {"problems", std::move(said)},
               {"episodes", list_of(episodes)}});
}

Result<std::vector<OutboxRow>> deliveries_from_json(std::string_view text) {
  try {
    std::vector<OutboxRow> rows;
    const json episode = json::parse(text);
    for (const json& object : episode.at("deliveries")) {
      OutboxRow& row = rows.emplace_back();
      row.receiver = object.at("receiver");
      row.status = object.at("status") == "firing" ? AlertStatus::firing : AlertStatus::resolved;
      for (const OutboxState state : {OutboxState::queued, OutboxState::delivered,
                                      OutboxState::superseded, OutboxState::dead}) {
        if (object.at("state") == to_string(state)) row.state = state;
      }
      row.attempts = object.at("attempts");
      row.created_at = time_from(object.at("queued_at"));
      row.settled_at = time_from(object.at("settled_at"));
      row.last_answer = object.at("answer");
    }
    return rows;
  } catch (const json::exception&) {
    return foreign_answer();
  }
}

Result<std::vector<Episode>> episodes_from_json(std::string_view text) try {
  const json document = json::parse(text);
  std::vector<Episode> episodes;
  for (const json& object : document.at("episodes")) episodes.push_back(from_object(object));
  return episodes;
} catch (const json::exception&) {
  return foreign_answer();
}

}  // namespace outcomed
