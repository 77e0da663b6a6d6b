// The history in one SQLite file. Write-ahead log, fsync at each commit, one connection, and the
// file locked for as long as it is open for writing.
//
// Errors: `corrupt` — the file is damaged (set_aside makes room for a new one); `invalid` — the
// file or its place is not for us, or a call is wrong; `unavailable` — another process has it, or
// the disk is full: nothing was stored, a later call may work; `rejected` — the disk failed.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "alerts/store.h"
#include "daemon/storage/sqlite.h"

namespace outcomed {

struct Retention {
  Duration buckets = 24h * 35;        // Shorter than an hour.
  Duration long_buckets = 24h * 400;  // An hour and longer (evaluators count by day).
  Duration episodes = 24h * 400;      // Since they resolved; what fires is never removed.
  Duration settled = 24h * 35;        // Outbox rows since they were delivered or given up.
  Duration configs = 24h * 400;       // Since their last use; kept for the episodes that name them.
};

// Thread-safe: calls wait for each other. After an error of the disk or of SQLite's
// structures every call returns that error: what reached the disk is known only after a restart.
class SqliteStore final : public Store {
 public:
  // Makes folder (0700) and file (0600) where there are none, checks the file, brings an older
  // schema up to date, and holds the lock until destruction.
  static Result<std::unique_ptr<SqliteStore>> open(const std::string& path,
                                                   Retention retention = {});
  // For other processes while no daemon runs: takes no lasting lock, writes nothing. Fails with
  // `unavailable` while a daemon holds the file.
  static Result<std::unique_ptr<SqliteStore>> open_read_only(const std::string& path);

  Result<std::vector<SourceRow>> sources() override;
  Result<std::vector<CellRow>> cells() override;
  // Those that start in `range`, in time order.
  Result<std::vector<BucketRow>> buckets(const std::string& signal, TimeRange range) override;
  Result<std::vector<SnapshotRow>> snapshots() override;
  Result<std::vector<AlertState>> alerts() override;

  // Rows replace those with the same key. A cell that is known under other labels is refused. An
  // inactive alert is erased when none of its times is set; others stay, because last_step keeps
  // replayed buckets from firing again, until prune() finds them older than every bucket.
  Status commit(const TickRecord& record) override;

  // Newest first, by fired_at, then id.
  Result<std::vector<Episode>> current_episodes(Timestamp resolved_since) override;
  Result<std::vector<Episode>> episodes(const EpisodeFilter& filter) override;
  Result<std::optional<Episode>> episode(const std::string& id) override;

  Result<std::vector<OutboxRow>> queued(const std::string& receiver) override;
  Result<std::vector<OutboxRow>> deliveries(const std::string& episode) override;
  // Writes state, attempts, times and answer of the rows with these ids; messages and addressees
  // stay.
  Status settle(const std::vector<OutboxRow>& rows) override;

  Status remember_config(const std::string& hash, const std::string& text, Timestamp now) override;
  // The one remembered last.
  Result<std::optional<std::string>> last_config() override;

  // For the next prune().
  void set_retention(Retention retention);
  // At most 1000 rows each call, in one transaction; call it again on a later tick.
  Status prune(Timestamp now) override;

  // Set once the store has failed for good; the daemon then ends, and a restart recovers.
  [[nodiscard]] std::optional<Error> broken() const;

 private:
  SqliteStore(std::unique_ptr<sqlite::Database> database, Retention retention, bool read_only)
      : database_(std::move(database)), retention_(retention), read_only_(read_only) {}

  // Runs `work` under the mutex unless the store is broken; a writer's in one transaction.
  template <class Work>
  std::invoke_result_t<Work, sqlite::Database&> reading(Work work);
  template <class Work>
  Status writing(std::string_view task, Work work);

  mutable std::mutex mutex_;
  std::unique_ptr<sqlite::Database> database_;
  Retention retention_;
  bool read_only_;
};

// Renames a damaged file and its log to FILE.corrupt-20261130T120400Z, so that open() starts anew.
// Looks again first: a file that another process has open, and a sound one of another program or a
// newer release, are left alone (an error).
Status set_aside(const std::string& path, Timestamp now);

}  // namespace outcomed
