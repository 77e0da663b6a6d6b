#include "daemon/storage/schema.h"

#include <fmt/core.h>

#include <array>

namespace outcomed {
namespace {

constexpr const char* kVersion1 = R"sql(
CREATE TABLE source (
  name TEXT PRIMARY KEY,
  watermark INTEGER NOT NULL,
  memory BLOB NOT NULL
);
CREATE TABLE cell (
  signal TEXT NOT NULL,
  id INTEGER NOT NULL,
  labels TEXT NOT NULL,
  PRIMARY KEY (signal, id)
) WITHOUT ROWID;
CREATE TABLE bucket (
  signal TEXT NOT NULL,
  start INTEGER NOT NULL,
  length INTEGER NOT NULL,
  coverage INTEGER NOT NULL,
  cells BLOB NOT NULL,
  PRIMARY KEY (signal, start)
);
CREATE INDEX bucket_by_time ON bucket (start) WHERE length < 3600000;
CREATE INDEX long_bucket_by_time ON bucket (start) WHERE length >= 3600000;
CREATE TABLE snapshot (
  rule TEXT PRIMARY KEY,
  settings_hash TEXT NOT NULL,
  at INTEGER NOT NULL,
  folds BLOB NOT NULL
);
CREATE TABLE alert (
  rule TEXT NOT NULL,
  severity TEXT NOT NULL,
  grouping TEXT NOT NULL,
  phase TEXT NOT NULL,
  pending_at INTEGER NOT NULL,
  fired_at INTEGER NOT NULL,
  onset INTEGER NOT NULL,
  last_breach INTEGER NOT NULL,
  last_step INTEGER NOT NULL,
  healthy_since INTEGER NOT NULL,
  unknown_ms INTEGER NOT NULL,
  too_few_ms INTEGER NOT NULL,
  PRIMARY KEY (rule, severity, grouping)
) WITHOUT ROWID;
CREATE TABLE episode (
  id TEXT PRIMARY KEY,
  rule TEXT NOT NULL,
  severity TEXT NOT NULL,
  grouping TEXT NOT NULL,
  labels TEXT NOT NULL,
  onset INTEGER NOT NULL,
  pending_at INTEGER NOT NULL,
  fired_at INTEGER NOT NULL,
  resolved_at INTEGER,
  resolve_reason TEXT NOT NULL,
  k INTEGER NOT NULL,
  n INTEGER NOT NULL,
  measured REAL,
  threshold REAL,
  sentence TEXT NOT NULL,
  facts TEXT NOT NULL,
  resolve_sentence TEXT NOT NULL,
  config_hash TEXT NOT NULL
);
CREATE INDEX episode_by_time ON episode (fired_at, id);
CREATE INDEX episode_by_end ON episode (resolved_at);
CREATE TABLE outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  receiver TEXT NOT NULL,
  rule TEXT NOT NULL,
  severity TEXT NOT NULL,
  grouping TEXT NOT NULL,
  episode TEXT NOT NULL,
  status TEXT NOT NULL,
  message TEXT NOT NULL,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  next_attempt INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  settled_at INTEGER NOT NULL,
  last_answer TEXT NOT NULL
);
CREATE INDEX outbox_queued ON outbox (receiver, id) WHERE state = 'queued';
CREATE INDEX outbox_settled ON outbox (settled_at) WHERE state <> 'queued';
CREATE INDEX outbox_by_episode ON outbox (episode, id);
CREATE TABLE config (
  hash TEXT PRIMARY KEY,
  text TEXT NOT NULL,
  first_used INTEGER NOT NULL,
  last_used INTEGER NOT NULL,
  turn INTEGER NOT NULL UNIQUE  -- The highest is the one in force, whatever the clocks said.
);
)sql";

constexpr std::array kSteps = {kVersion1};

// The schema version, 0 for an empty file.
Result<std::int64_t> own_version(sqlite::Database& database, std::size_t newest) {
  const auto version = database.integer("PRAGMA user_version", "read the schema version");
  if (!version) return version.error();
  const auto owner = database.integer("PRAGMA application_id", "read the application id");
  if (!owner) return owner.error();
  const auto tables = database.integer("SELECT count(*) FROM sqlite_schema", "read the schema");
  if (!tables) return tables.error();
  const bool fresh = *version == 0 && *owner == 0 && *tables == 0;
  if (!fresh && *owner != kApplicationId) {
    return database.refusal(
        "this SQLite file belongs to another program; name another file in store.sqlite");
  }
  if (*version < 0 || *version > static_cast<std::int64_t>(newest)) {
    return database.refusal(
        fmt::format("written by a newer release (schema {}, this one knows up to {}); install "
                    "that release again, or name another file in store.sqlite",
                    *version, newest));
  }
  return *version;
}

}  // namespace

std::span<const char* const> schema_steps() { return kSteps; }

Status recognise(sqlite::Database& database, std::span<const char* const> steps) {
  const auto version = own_version(database, steps.size());
  if (!version) return version.error();
  return ok();
}

Status migrate(sqlite::Database& database, std::span<const char* const> steps) {
  const auto version = own_version(database, steps.size());
  if (!version) return version.error();
  if (*version == static_cast<std::int64_t>(steps.size())) return ok();
  sqlite::Transaction transaction(database);
  if (Status begun = transaction.begin("migrate"); !begun) return begun;
  for (const char* step : steps.subspan(static_cast<std::size_t>(*version))) {
    if (Status done = database.exec(step, "migrate"); !done) return done;
  }
  const std::string mark = fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                       kApplicationId, steps.size());
  if (Status done = database.exec(mark.c_str(), "migrate"); !done) return done;
  return transaction.commit("migrate");
}

Status check_version(sqlite::Database& database, std::span<const char* const> steps) {
  const auto version = own_version(database, steps.size());
  if (!version) return version.error();
  if (*version == static_cast<std::int64_t>(steps.size())) return ok();
  if (*version == 0) return database.refusal("it holds no history yet; start the daemon once");
  return database.refusal(
      fmt::format("written by an older release (schema {} of {}); start the daemon once, it brings "
                  "the file up to date",
                  *version, steps.size()));
}

}  // namespace outcomed
