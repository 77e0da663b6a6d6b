#include "daemon/storage/history_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "daemon/storage/row_codec.h"

namespace outcomed {
namespace {

using sqlite::Database;
using sqlite::Statement;
using sqlite::Value;

constexpr std::string_view kSelectEpisode =
    "SELECT id, rule, severity, grouping, labels, onset, pending_at, fired_at, resolved_at, "
    "resolve_reason, k, n, measured, threshold, sentence, facts, resolve_sentence, config_hash "
    "FROM episode ";
constexpr std::string_view kSelectOutbox =
    "SELECT id, receiver, rule, severity, grouping, episode, status, message, state, created_at, "
    "next_attempt, attempts, settled_at, last_answer FROM outbox ";

std::string joined(std::string_view head, std::string_view tail) {
  return std::string(head) + std::string(tail);
}

Result<std::vector<Episode>> select_episodes(Database& database, std::string_view where,
                                             std::initializer_list<Value> values) {
  std::vector<Episode> episodes;
  Statement some = database.prepare(joined(kSelectEpisode, where), "read episodes");
  const Status read = some.each(values, [&] {
    RowReader row(some);
    Episode& episode = episodes.emplace_back();
    episode.id = row.text();
    episode.key = row.key();
    episode.labels = row.labels();
    episode.onset = row.time();
    episode.pending_at = row.time();
    episode.fired_at = row.time();
    episode.resolved_at = row.optional_time();
    episode.resolve_reason = row.text();
    episode.k = row.integer();
    episode.n = row.integer();
    episode.measured = row.real();
    episode.threshold = row.real();
    episode.sentence = row.text();
    episode.facts = row.pairs();
    episode.resolve_sentence = row.text();
    episode.config_hash = row.text();
    return row.status();
  });
  if (!read) return read.error();
  return episodes;
}

Result<std::vector<OutboxRow>> select_outbox(Database& database, std::string_view where,
                                             std::initializer_list<Value> values) {
  std::vector<OutboxRow> rows;
  Statement some = database.prepare(joined(kSelectOutbox, where), "read deliveries");
  const Status read = some.each(values, [&] {
    RowReader row(some);
    OutboxRow& news = rows.emplace_back();
    news.id = row.integer();
    news.receiver = row.text();
    news.key = row.key();
    news.episode = row.text();
    news.status = row.alert_status();
    news.message = row.message();
    news.state = row.outbox_state();
    news.created_at = row.time();
    news.next_attempt = row.time();
    news.attempts = static_cast<int>(row.integer());
    news.settled_at = row.time();
    news.last_answer = row.text();
    return row.status();
  });
  if (!read) return read.error();
  return rows;
}

}  // namespace

Status write_episodes(Database& database, const std::vector<Episode>& episodes) {
  Statement put = database.prepare(
      "INSERT OR REPLACE INTO episode VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "?)",
      "store an episode");
  for (const Episode& episode : episodes) {
    const Packed group = pack(episode.key.group);
    const Packed labels = pack(episode.labels);
    const Packed facts = pack(episode.facts);
    Status done =
        put.run({episode.id, episode.key.rule, episode.key.severity, group, labels, episode.onset,
                 episode.pending_at, episode.fired_at, episode.resolved_at, episode.resolve_reason,
                 episode.k, episode.n, episode.measured, episode.threshold, episode.sentence, facts,
                 episode.resolve_sentence, episode.config_hash});
    if (!done) return done;
  }
  return ok();
}

Status write_outbox(Database& database, const std::vector<OutboxRow>& rows) {
  Statement put = database.prepare(
      "INSERT INTO outbox (receiver, rule, severity, grouping, episode, status, message, state, "
      "created_at, next_attempt, attempts, settled_at, last_answer) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      "queue a message");
  for (const OutboxRow& row : rows) {
    const Packed group = pack(row.key.group);
    const std::string message = to_json(row.message);
    Status done = put.run({row.receiver, row.key.rule, row.key.severity, group, row.episode,
                           status_name(row.status), message, to_string(row.state), row.created_at,
                           row.next_attempt, row.attempts, row.settled_at, row.last_answer});
    if (!done) return done;
  }
  return ok();
}

Status settle_rows(Database& database, const std::vector<OutboxRow>& rows) {
  Statement update = database.prepare(
      "UPDATE outbox SET state = ?, next_attempt = ?, attempts = ?, settled_at = ?, "
      "last_answer = ? WHERE id = ?",
      "settle a delivery");
  for (const OutboxRow& row : rows) {
    Status done = update.run({to_string(row.state), row.next_attempt, row.attempts, row.settled_at,
                              row.last_answer, row.id});
    if (!done) return done;
    if (database.changes() != 1) {
      return Error{ErrorKind::invalid,
                   fmt::format("settle a delivery: there is no row {}", row.id)};
    }
  }
  return ok();
}

Status write_config(Database& database, const std::string& hash, const std::string& text,
                    Timestamp now) {
  Statement put = database.prepare(
      "INSERT INTO config VALUES (?1, ?2, ?3, ?3, (SELECT coalesce(max(turn), 0) + 1 FROM config)) "
      "ON CONFLICT (hash) DO UPDATE SET last_used = excluded.last_used, turn = excluded.turn",
      "remember a configuration");
  return put.run({hash, text, now});
}

Result<std::vector<Episode>> read_current_episodes(Database& database, Timestamp resolved_since) {
  return select_episodes(database,
                         "WHERE resolved_at IS NULL OR resolved_at >= ? "
                         "ORDER BY fired_at DESC, id",
                         {resolved_since});
}

Result<std::vector<Episode>> read_episodes(Database& database, const EpisodeFilter& filter) {
  // An absent condition is NULL, which the query reads as "any".
  const std::size_t most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  const Value rule = filter.rule ? Value(*filter.rule) : Value(std::optional<Timestamp>());
  return select_episodes(
      database,
      "WHERE (?1 IS NULL OR rule = ?1) "
      "AND (?2 IS NULL OR resolved_at IS NULL OR resolved_at >= ?2) "
      "AND (?3 IS NULL OR fired_at < ?3) "
      "AND (NOT ?4 OR resolved_at IS NULL) "
      "ORDER BY fired_at DESC, id LIMIT ?5",
      {rule, filter.from, filter.to, filter.open_only, std::min(filter.limit, most)});
}

Result<std::optional<Episode>> read_episode(Database& database, const std::string& id) {
  auto found = select_episodes(database, "WHERE id = ?", {id});
  if (!found) return found.error();
  if (found->empty()) return std::optional<Episode>();
  return std::optional<Episode>(std::move(found->front()));
}

Result<std::vector<OutboxRow>> read_queued(Database& database, const std::string& receiver) {
  return select_outbox(database, "WHERE state = 'queued' AND receiver = ? ORDER BY id", {receiver});
}

Result<std::vector<OutboxRow>> read_deliveries(Database& database, const std::string& episode) {
  return select_outbox(database, "WHERE episode = ? ORDER BY id", {episode});
}

Result<std::optional<std::string>> read_last_config(Database& database) {
  std::optional<std::string> text;
  Statement last = database.prepare("SELECT text FROM config ORDER BY turn DESC LIMIT 1",
                                    "read the last configuration");
  const Status read = last.each({}, [&] {
    text = last.bytes(0);
    return ok();
  });
  if (!read) return read.error();
  return text;
}

}  // namespace outcomed
