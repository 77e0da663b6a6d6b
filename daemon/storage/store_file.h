// The history file as a file: where it may lie, who owns it, and what to do with a broken one.
#pragma once

#include <string>

#include "queries/base/result.h"
#include "queries/base/time.h"

namespace outcomed {

// Makes ready to open `path` for writing and returns it absolute and without symlinks in its
// folder. A missing folder is made with mode 0700, a missing file with 0600. Refuses
// (ErrorKind::invalid) a folder that any user may write to, and a file, or one of SQLite's files
// beside it, that is a symlink, not a regular file, linked twice, or owned by somebody else.
Result<std::string> prepare_store_file(const std::string& path);
// The same for reading: nothing is made, and owners don't matter.
Result<std::string> find_store_file(const std::string& path);
// Of a file that find_store_file found: it lies where we can make nothing beside it, as SQLite
// needs to read a log; it has none, and nobody holds it. A copy on a read-only file system, for
// example.
bool is_frozen_store_file(const std::string& file);

}  // namespace outcomed
