#pragma once

#include "daemon/storage/sqlite.h"
#include "daemon/storage/sqlite_store.h"

namespace outcomed {

// Removes up to `budget` rows that are older than their ages. Inside a transaction.
Status prune_rows(sqlite::Database& database, const Retention& retention, Timestamp now,
                  std::int64_t budget);

}  // namespace outcomed
