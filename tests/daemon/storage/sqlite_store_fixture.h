// A store of its own for each test, which may be opened again.
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "daemon/storage/sqlite_store.h"
#include "tests/daemon/storage/rows.h"
#include "tests/support/temp_folder.h"

namespace outcomed::testing {

class SqliteStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = open_store(path_);
    ASSERT_NE(store_, nullptr);
  }
  void reopen() {
    store_.reset();
    store_ = open_store(path_);
    ASSERT_NE(store_, nullptr);
  }
  std::vector<std::string> ids(const EpisodeFilter& filter) {
    std::vector<std::string> found;
    for (const Episode& episode : value_of(store_->episodes(filter))) found.push_back(episode.id);
    return found;
  }

  TempFolder folder_;
  const std::string path_ = folder_ / "history.db";
  std::unique_ptr<SqliteStore> store_;
};

}  // namespace outcomed::testing
