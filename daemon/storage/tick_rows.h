// The rows of a tick: what commit() writes and what the engine reads at start. Callers hold the
// store's mutex; write_tick runs inside a transaction.
#pragma once

#include <string>
#include <vector>

#include "alerts/store.h"
#include "daemon/storage/sqlite.h"

namespace outcomed {

Status write_tick(sqlite::Database& database, const TickRecord& record);

Result<std::vector<SourceRow>> read_sources(sqlite::Database& database);
Result<std::vector<CellRow>> read_cells(sqlite::Database& database);
Result<std::vector<BucketRow>> read_buckets(sqlite::Database& database, const std::string& signal,
                                            TimeRange range);
Result<std::vector<SnapshotRow>> read_snapshots(sqlite::Database& database);
Result<std::vector<AlertState>> read_alerts(sqlite::Database& database);

}  // namespace outcomed
