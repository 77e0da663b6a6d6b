// The tables of the history file and how older files become newer ones.
//
// For readers with `sqlite3`: times are Unix milliseconds (datetime(fired_at / 1000, 'unixepoch')),
// label sets are JSON objects (json_extract(labels, '$.model')). A label set or text list that is
// not valid UTF-8 is kept as bytes instead, so that what is read is always what was written.
#pragma once

#include <cstdint>
#include <span>

#include "daemon/storage/sqlite.h"

namespace outcomed {

// "oUTC", so that `file` and we can tell our files from other programs' SQLite files.
inline constexpr std::int64_t kApplicationId = 0x6f555443;

// Step i turns schema version i into i + 1. A step, once released, is never edited.
std::span<const char* const> schema_steps();

// Refuses files of other programs and of newer releases (ErrorKind::invalid) without changing them.
Status recognise(sqlite::Database& database, std::span<const char* const> steps = schema_steps());

// Brings a file that was recognised to the newest version in one transaction: a kill leaves the old
// version or the new one.
Status migrate(sqlite::Database& database, std::span<const char* const> steps = schema_steps());

// For readers: recognises the file and refuses older versions as well.
Status check_version(sqlite::Database& database,
                     std::span<const char* const> steps = schema_steps());

}  // namespace outcomed
