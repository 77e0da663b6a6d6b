// One file of a history, and what others may do to it.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "daemon/storage/schema.h"
#include "daemon/storage/sqlite_store.h"
#include "tests/daemon/storage/child_process.h"
#include "tests/daemon/storage/rows.h"
#include "tests/support/temp_folder.h"

namespace outcomed::testing {

namespace fs = std::filesystem;

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline unsigned mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777U;
}

// Runs SQL as another program would.
inline void run_sql(const std::string& path, const std::string& sql) {
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &other), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(other, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(other);
  sqlite3_close(other);
}

inline Error refusal_of(const std::string& path) {
  const auto opened = SqliteStore::open(path);
  if (!opened) return opened.error();
  ADD_FAILURE() << path << " was opened";
  return {};
}

class StoreFileTest : public ::testing::Test {
 protected:
  // A sound file with something in it, closed.
  void make_history() {
    const auto store = open_store(path_);
    ASSERT_NE(store, nullptr);
    TickRecord record;
    record.alerts = {firing_alert(key_of("r", "judge"), 1)};
    for (int i = 0; i < 300; ++i) {
      record.buckets.push_back({"requests", minute(i), 60s, 0, std::string(200, 'x')});
    }
    ASSERT_OK(store->commit(record));
  }

  TempFolder folder_;
  const std::string path_ = folder_ / "history.db";
};

}  // namespace outcomed::testing
