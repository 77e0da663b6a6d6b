// The steps from one schema to the next.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "daemon/storage/schema.h"
#include "daemon/storage/sqlite.h"
#include "tests/daemon/storage/child_process.h"
#include "tests/daemon/storage/rows.h"
#include "tests/support/temp_folder.h"

namespace outcomed::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kStepOne = "CREATE TABLE a (x); INSERT INTO a VALUES (1);";
constexpr const char* kStepTwo = "ALTER TABLE a ADD COLUMN y DEFAULT 7;";

std::unique_ptr<sqlite::Database> open_raw(const std::string& path) {
  if (!fs::exists(path)) std::ofstream(path).close();
  auto database = sqlite::Database::open(path, sqlite::Database::Access::read_write, 0ms);
  EXPECT_TRUE(database);
  return database ? std::move(*database) : nullptr;
}

class StoreSchemaTest : public ::testing::Test {
 protected:
  TempFolder folder_;
  const std::string path_ = folder_ / "history.db";
};

TEST_F(StoreSchemaTest, AnOlderSchemaIsBroughtUpToDateWithItsRows) {
  const std::vector<const char*> one = {kStepOne};
  const std::vector<const char*> two = {kStepOne, kStepTwo};
  const auto database = open_raw(path_);
  ASSERT_OK(migrate(*database, one));
  const Status old = check_version(*database, two);
  ASSERT_FALSE(old);
  EXPECT_THAT(old.error().message, HasSubstr("older release (schema 1 of 2)"));
  ASSERT_OK(migrate(*database, two));
  ASSERT_OK(check_version(*database, two));
  EXPECT_EQ(value_of(database->integer("SELECT x + y FROM a", "test")), 8);
  ASSERT_FALSE(recognise(*database, one));
}

TEST_F(StoreSchemaTest, AStepThatFailsLeavesTheOldSchema) {
  const std::vector<const char*> one = {kStepOne};
  const std::vector<const char*> bad = {kStepOne, kStepTwo, "INSERT INTO missing VALUES (1)"};
  const auto database = open_raw(path_);
  ASSERT_OK(migrate(*database, one));
  ASSERT_FALSE(migrate(*database, bad));
  ASSERT_OK(check_version(*database, one));
  EXPECT_EQ(value_of(database->integer("SELECT count(*) FROM pragma_table_info('a')", "test")), 1);
}

TEST_F(StoreSchemaTest, AKillDuringAStepLeavesTheOldSchemaOrTheNew) {
  const std::vector<const char*> one = {kStepOne};
  const std::vector<const char*> two = {
      kStepOne,
      "CREATE TABLE big AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
      "i < 100000) SELECT i, randomblob(20) AS b FROM n; UPDATE a SET x = 2;"};
  int old = 0;
  for (int round = 0; round < 12; ++round) {
    fs::remove(path_);
    fs::remove(path_ + "-journal");
    ASSERT_OK(migrate(*open_raw(path_), one));
    ChildProcess upgrade([&](const ChildProcess::Tell& tell) {
      const auto database = open_raw(path_);
      tell();
      return migrate(*database, two) ? 0 : 1;
    });
    ASSERT_TRUE(upgrade.hear());
    // The journal's growth tells how far the step has come.
    while (round > 0 && fs::exists(path_) &&
           fs::file_size(path_) < static_cast<std::uintmax_t>(round) * 300'000 &&
           upgrade.is_running()) {
    }
    upgrade.kill();
    const auto database = open_raw(path_);
    const bool is_new = bool(check_version(*database, two));
    if (!is_new) {
      ++old;
      ASSERT_OK(check_version(*database, one));
    }
    EXPECT_EQ(value_of(database->integer("SELECT x FROM a", "test")), is_new ? 2 : 1);
    EXPECT_EQ(value_of(database->integer("SELECT count(*) FROM sqlite_schema", "test")),
              is_new ? 2 : 1);
  }
  EXPECT_GT(old, 0);
}

}  // namespace
}  // namespace outcomed::testing
