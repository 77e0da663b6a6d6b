#include "daemon/storage/prune.h"

#include <algorithm>
#include <array>

namespace outcomed {
namespace {

struct PruneStep {
  std::string_view sql;  // ?1: older than this goes; ?2: at most so many rows.
  Timestamp cutoff;
};

constexpr std::string_view kPruneBuckets =
    "DELETE FROM bucket WHERE rowid IN "
    "(SELECT rowid FROM bucket WHERE length < 3600000 AND start < ?1 ORDER BY start LIMIT ?2)";
constexpr std::string_view kPruneLongBuckets =
    "DELETE FROM bucket WHERE rowid IN "
    "(SELECT rowid FROM bucket WHERE length >= 3600000 AND start < ?1 ORDER BY start LIMIT ?2)";
constexpr std::string_view kPruneOutbox =
    "DELETE FROM outbox WHERE id IN "
    "(SELECT id FROM outbox WHERE state <> 'queued' AND settled_at < ?1 "
    "ORDER BY settled_at LIMIT ?2)";
constexpr std::string_view kPruneEpisodes =
    "DELETE FROM episode WHERE rowid IN "
    "(SELECT rowid FROM episode WHERE resolved_at < ?1 ORDER BY resolved_at LIMIT ?2)";
// Nothing older than the oldest bucket can be judged again.
constexpr std::string_view kPruneAlerts =
    "DELETE FROM alert WHERE (rule, severity, grouping) IN "
    "(SELECT rule, severity, grouping FROM alert "
    "WHERE phase = 'inactive' AND last_step < ?1 LIMIT ?2)";
constexpr std::string_view kPruneSnapshots =
    "DELETE FROM snapshot WHERE rowid IN (SELECT rowid FROM snapshot WHERE at < ?1 LIMIT ?2)";
constexpr std::string_view kPruneConfigs =
    "DELETE FROM config WHERE rowid IN (SELECT rowid FROM config WHERE last_used < ?1 "
    "AND turn < (SELECT max(turn) FROM config) "
    "AND hash NOT IN (SELECT config_hash FROM episode) LIMIT ?2)";

}  // namespace

Status prune_rows(sqlite::Database& database, const Retention& retention, Timestamp now,
                  std::int64_t budget) {
  const Timestamp unreachable = now - std::max(retention.buckets, retention.long_buckets);
  const std::array steps = {PruneStep{kPruneBuckets, now - retention.buckets},
                            PruneStep{kPruneLongBuckets, now - retention.long_buckets},
                            PruneStep{kPruneOutbox, now - retention.settled},
                            PruneStep{kPruneEpisodes, now - retention.episodes},
                            PruneStep{kPruneAlerts, unreachable},
                            PruneStep{kPruneSnapshots, unreachable},
                            PruneStep{kPruneConfigs, now - retention.configs}};
  for (const PruneStep& step : steps) {
    sqlite::Statement remove = database.prepare(step.sql, "remove old rows");
    if (Status done = remove.run({step.cutoff, budget}); !done) return done;
    budget -= database.changes();
    if (budget <= 0) break;
  }
  return ok();
}

}  // namespace outcomed
