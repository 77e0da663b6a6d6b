// What must survive a crash. One transaction for each tick: all of it or nothing.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alerts/alert.h"
#include "alerts/outbox.h"
#include "queries/base/result.h"

namespace outcomed {

// The buckets of one signal in one step, packed: varint count, then for each cell that isn't zero
// its id (delta to the previous one), n and k.
struct BucketRow {
  std::string signal;
  Timestamp start;
  Duration length{};
  std::uint8_t coverage = 0;
  std::string cells;
};

struct CellRow {
  std::string signal;
  std::uint32_t id = 0;
  Labels labels;
};

struct SourceRow {
  std::string source;
  Timestamp watermark;  // Everything before it is folded.
  std::string memory;   // Source::save
};

// The memory of a rule's folds at one time; the buckets after `at` complete it.
struct SnapshotRow {
  std::string rule;
  std::string settings_hash;  // A rule with other settings starts anew.
  Timestamp at;
  std::string folds;  // count, then (group labels, Fold::save) each.
};

struct TickRecord {
  std::vector<SourceRow> sources;
  std::vector<CellRow> cells;  // New ones.
  std::vector<BucketRow> buckets;
  std::vector<SnapshotRow> snapshots;
  std::vector<AlertState>
      alerts;  // Changed ones; inactive ones with nothing to remember are erased.
  std::vector<Episode> episodes;  // New and changed ones.
  std::vector<OutboxRow> outbox;  // New ones; ids are given by the store.
};

struct EpisodeFilter {
  std::optional<std::string> rule;
  std::optional<Timestamp> from;  // Episodes that were firing at or after this.
  std::optional<Timestamp> to;    // … and fired before this.
  bool open_only = false;
  std::size_t limit = 1000;  // Newest first.
};

class Store {
 public:
  virtual ~Store() = default;

  // Everything the engine needs at start.
  virtual Result<std::vector<SourceRow>> sources() = 0;
  virtual Result<std::vector<CellRow>> cells() = 0;
  virtual Result<std::vector<BucketRow>> buckets(const std::string& signal, TimeRange range) = 0;
  virtual Result<std::vector<SnapshotRow>> snapshots() = 0;
  virtual Result<std::vector<AlertState>> alerts() = 0;

  virtual Status commit(const TickRecord& record) = 0;

  // Episodes that fire now, and those resolved at or after `resolved_since`.
  virtual Result<std::vector<Episode>> current_episodes(Timestamp resolved_since) = 0;
  virtual Result<std::vector<Episode>> episodes(const EpisodeFilter& filter) = 0;
  virtual Result<std::optional<Episode>> episode(const std::string& id) = 0;

  // Outbox. queued(): ascending id, for one receiver. settle() writes back rows, all or
  // none of them: a crash must not part what was sent in one message.
  virtual Result<std::vector<OutboxRow>> queued(const std::string& receiver) = 0;
  virtual Result<std::vector<OutboxRow>> deliveries(const std::string& episode) = 0;
  virtual Status settle(const std::vector<OutboxRow>& rows) = 0;

  // Configurations that were in force: kept by hash, first and last use.
  virtual Status remember_config(const std::string& hash, const std::string& text,
                                 Timestamp now) = 0;
  virtual Result<std::optional<std::string>> last_config() = 0;

  // Removes buckets, delivered rows, episodes and configurations older than their ages, in small
  // batches.
  virtual Status prune(Timestamp now) = 0;
};

}  // namespace outcomed
