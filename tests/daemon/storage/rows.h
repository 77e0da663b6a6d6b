// Rows for tests of the store.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "daemon/storage/sqlite_store.h"

namespace outcomed::testing {

inline Timestamp minute(int index) {
  return from_unix_ms(1'796'000'000'000 / 60'000 * 60'000 + 60'000LL * index);
}

inline AlertKey key_of(const std::string& rule, const std::string& model) {
  return {rule, "page", {{"model", model}}};
}

inline AlertState firing_alert(const AlertKey& key, int at) {
  AlertState state;
  state.key = key;
  state.phase = Phase::firing;
  state.pending_at = minute(at);
  state.fired_at = minute(at + 5);
  state.onset = minute(at - 1);
  state.last_breach = minute(at + 5);
  state.last_step = minute(at + 5);
  return state;
}

inline Episode episode_of(const AlertKey& key, int fired) {
  Episode episode;
  episode.id = episode_id(key, minute(fired));
  episode.key = key;
  episode.labels = {{"team", "llm"}};
  episode.onset = minute(fired - 6);
  episode.pending_at = minute(fired - 5);
  episode.fired_at = minute(fired);
  episode.k = 71;
  episode.n = 77;
  episode.measured = 71.0 / 77.0;
  episode.threshold = 0.3;
  episode.sentence = "71 of 77 requests (92 %) failed";
  episode.facts = {{"window", "10 min"}, {"a", "1"}, {"a", "2"}};
  episode.config_hash = "c0ffee";
  return episode;
}

inline OutboxRow news_of(const Episode& episode, const std::string& receiver, AlertStatus status) {
  OutboxRow row;
  row.receiver = receiver;
  row.key = episode.key;
  row.episode = episode.id;
  row.status = status;
  row.message.idempotency_key = episode.id + "/" + receiver;
  row.message.receiver = receiver;
  row.message.group_key = "{}:{}";
  row.message.group_labels = {{"rule", episode.key.rule}};
  AlertMessage& alert = row.message.alerts.emplace_back();
  alert.status = status;
  alert.labels = {{"alertname", episode.key.rule}};
  alert.annotations = {{"summary", "judge fails"}};
  alert.starts_at = episode.fired_at;
  alert.ends_at = episode.resolved_at;
  alert.episode = episode.id;
  row.created_at = episode.fired_at;
  row.next_attempt = episode.fired_at;
  return row;
}

// One text for all that matters of a row, so that a difference shows.
inline std::string shown(const OutboxRow& row) {
  return std::to_string(row.id) + "|" + row.receiver + "|" + row.key.rule + "|" + row.key.severity +
         "|" + row.key.group.to_string() + "|" + row.episode + "|" +
         (row.status == AlertStatus::firing ? "firing" : "resolved") + "|" +
         std::string(to_string(row.state)) + "|" + std::to_string(unix_ms(row.created_at)) + "|" +
         std::to_string(unix_ms(row.next_attempt)) + "|" + std::to_string(row.attempts) + "|" +
         std::to_string(unix_ms(row.settled_at)) + "|" + row.last_answer + "|" +
         to_json(row.message);
}

// Opens, or fails the test with the reason.
inline std::unique_ptr<SqliteStore> open_store(const std::string& path, Retention retention = {}) {
  auto store = SqliteStore::open(path, retention);
  if (!store) {
    ADD_FAILURE() << store.error().message;
    return nullptr;
  }
  return std::move(*store);
}

template <class T>
T value_of(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message;
    return T{};
  }
  return *std::move(result);
}

inline TickRecord tick_with_alerts(std::vector<AlertState> alerts) {
  TickRecord record;
  record.alerts = std::move(alerts);
  return record;
}

inline TickRecord tick_with_episodes(std::vector<Episode> episodes) {
  TickRecord record;
  record.episodes = std::move(episodes);
  return record;
}

inline TickRecord tick_with_outbox(std::vector<OutboxRow> rows) {
  TickRecord record;
  record.outbox = std::move(rows);
  return record;
}

template <class Set>
EpisodeFilter filter(Set set) {
  EpisodeFilter result;
  set(result);
  return result;
}

#define ASSERT_OK(...)                               \
  do {                                               \
    const auto status_ = (__VA_ARGS__);              \
    ASSERT_TRUE(status_) << status_.error().message; \
  } while (false)

}  // namespace outcomed::testing
