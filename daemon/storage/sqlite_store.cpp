#include "daemon/storage/sqlite_store.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "daemon/storage/history_rows.h"
#include "daemon/storage/prune.h"
#include "daemon/storage/schema.h"
#include "daemon/storage/store_file.h"
#include "daemon/storage/tick_rows.h"

namespace outcomed {
namespace {

using sqlite::Database;

constexpr Duration kBusyTimeout = 1s;
constexpr std::int64_t kPruneRows = 1000;

// The exclusive mode comes before the log: then its index lies in our memory, no other process can
// share it, and SQLite's bugs with several writers of one log can't concern us.
constexpr const char* kBeforeReading =
    "PRAGMA locking_mode = EXCLUSIVE;"
    "PRAGMA trusted_schema = OFF;"
    "PRAGMA cell_size_check = ON;";
constexpr const char* kBeforeWriting =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = FULL;"
    "PRAGMA foreign_keys = ON;"
    "PRAGMA journal_size_limit = 16777216;"
    "PRAGMA secure_delete = OFF;";

Status quick_check(Database& database) {
  std::string verdict;
  sqlite::Statement check = database.prepare("PRAGMA quick_check(1)", "check the file");
  Status read = check.each({}, [&] {
    verdict = check.bytes(0);
    return ok();
  });
  if (!read) return read;
  if (verdict == "ok") return ok();
  return database.corrupt("check the file", verdict);
}

// Locks the file and looks through it. Files that are not ours stay as they are.
Result<std::unique_ptr<Database>> open_checked(const std::string& file) {
  auto opened = Database::open(file, Database::Access::read_write, kBusyTimeout);
  if (!opened) return opened.error();
  Database& database = **opened;
  if (Status set = database.exec(kBeforeReading, "open"); !set) return set.error();
  if (Status sound = quick_check(database); !sound) return sound.error();
  if (Status ours = recognise(database); !ours) return ours.error();
  if (Status set = database.exec(kBeforeWriting, "open"); !set) return set.error();
  const auto log = database.integer("SELECT journal_mode = 'wal' FROM pragma_journal_mode", "open");
  if (!log) return log.error();
  if (*log != 1) {
    return database.refusal("its file system can't hold a write-ahead log; use a local disk");
  }
  return opened;
}

std::string set_aside_suffix(Timestamp now) {
  std::string text = ".corrupt-";
  for (const char c : format_rfc3339(now)) {
    if (c != '-' && c != ':') text += c;
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path,
                                                       Retention retention) {
  const auto file = prepare_store_file(path);
  if (!file) return file.error();
  auto database = open_checked(*file);
  if (!database) return database.error();
  if (Status migrated = migrate(**database); !migrated) return migrated.error();
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(*database), retention, false));
}

Result<std::unique_ptr<SqliteStore>> SqliteStore::open_read_only(const std::string& path) {
  const auto file = find_store_file(path);
  if (!file) return file.error();
  const auto access =
      is_frozen_store_file(*file) ? Database::Access::frozen : Database::Access::read_only;
  auto database = Database::open(*file, access, kBusyTimeout);
  if (!database) return database.error();
  const Status set = (*database)->exec(
      "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA query_only = ON;", "open");
  if (!set) return set.error();
  if (Status known = check_version(**database); !known) return known.error();
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(*database), {}, true));
}

template <class Work>
std::invoke_result_t<Work, Database&> SqliteStore::reading(Work work) {
  const std::lock_guard lock(mutex_);
  if (database_->broken()) return *database_->broken();
  return work(*database_);
}

template <class Work>
Status SqliteStore::writing(std::string_view task, Work work) {
  const std::lock_guard lock(mutex_);
  if (database_->broken()) return *database_->broken();
  if (read_only_) return database_->refusal("it was opened for reading only");
  {
    sqlite::Transaction transaction(*database_);
    if (Status begun = transaction.begin(task); !begun) return begun;
    if (Status done = work(*database_); !done) return done;
    if (Status stored = transaction.commit(task); !stored) return stored;
  }
  // Stored for good already. Where this fails with an error of the disk the next call says so;
  // where there is no room the log stays as it is until there is.
  (void)database_->checkpoint_if_due();
  return ok();
}

Result<std::vector<SourceRow>> SqliteStore::sources() { return reading(read_sources); }
Result<std::vector<CellRow>> SqliteStore::cells() { return reading(read_cells); }
Result<std::vector<SnapshotRow>> SqliteStore::snapshots() { return reading(read_snapshots); }
Result<std::vector<AlertState>> SqliteStore::alerts() { return reading(read_alerts); }

Result<std::vector<BucketRow>> SqliteStore::buckets(const std::string& signal, TimeRange range) {
  return reading([&](Database& database) { return read_buckets(database, signal, range); });
}

Status SqliteStore::commit(const TickRecord& record) {
  return writing("commit a tick", [&](Database& database) { return write_tick(database, record); });
}

Result<std::vector<Episode>> SqliteStore::current_episodes(Timestamp resolved_since) {
  return reading(
      [&](Database& database) { return read_current_episodes(database, resolved_since); });
}

Result<std::vector<Episode>> SqliteStore::episodes(const EpisodeFilter& filter) {
  return reading([&](Database& database) { return read_episodes(database, filter); });
}

Result<std::optional<Episode>> SqliteStore::episode(const std::string& id) {
  return reading([&](Database& database) { return read_episode(database, id); });
}

Result<std::vector<OutboxRow>> SqliteStore::queued(const std::string& receiver) {
  return reading([&](Database& database) { return read_queued(database, receiver); });
}

Result<std::vector<OutboxRow>> SqliteStore::deliveries(const std::string& episode) {
  return reading([&](Database& database) { return read_deliveries(database, episode); });
}

Status SqliteStore::settle(const std::vector<OutboxRow>& rows) {
  return writing("settle a delivery",
                 [&](Database& database) { return settle_rows(database, rows); });
}

Status SqliteStore::remember_config(const std::string& hash, const std::string& text,
                                    Timestamp now) {
  return writing("remember a configuration",
                 [&](Database& database) { return write_config(database, hash, text, now); });
}

Result<std::optional<std::string>> SqliteStore::last_config() { return reading(read_last_config); }

void SqliteStore::set_retention(Retention retention) {
  const std::lock_guard lock(mutex_);
  retention_ = retention;
}

Status SqliteStore::prune(Timestamp now) {
  return writing("remove old rows", [&](Database& database) {
    return prune_rows(database, retention_, now, kPruneRows);
  });
}

std::optional<Error> SqliteStore::broken() const {
  const std::lock_guard lock(mutex_);
  return database_->broken();
}

Status set_aside(const std::string& path, Timestamp now) {
  const auto file = prepare_store_file(path);
  if (!file) return file.error();
  if (const auto opened = open_checked(*file);
      !opened && opened.error().kind != ErrorKind::corrupt) {
    return opened.error();
  }
  // The log goes first: a new file must never meet the old one's log.
  for (const std::string_view part : {"-wal", "-journal", "-shm", ""}) {
    const std::string from = *file + std::string(part);
    const std::string to = *file + set_aside_suffix(now) + std::string(part);
    if (std::rename(from.c_str(), to.c_str()) != 0 && errno != ENOENT) {
      return Error{ErrorKind::invalid,
                   fmt::format("{}: move it to {}: {}", from, to, std::strerror(errno))};
    }
  }
  return ok();
}

}  // namespace outcomed
