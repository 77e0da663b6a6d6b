#include "queries/postgres/seen_rows.h"

#include <gtest/gtest.h>

#include <string>

namespace outcomed {
namespace {

constexpr Timestamp kNoon = from_unix_ms(1'796'040'000'000);

TEST(SeenRows, ForgetWhatNoSweepLooksAtAnyMore) {
  SeenRows rows;
  rows.add(SeenRows::hash("old"), kNoon - 10min);
  rows.add(SeenRows::hash("new"), kNoon);
  rows.keep_from(kNoon - 5min);
  EXPECT_FALSE(rows.holds(SeenRows::hash("old")));
  EXPECT_TRUE(rows.holds(SeenRows::hash("new")));
  EXPECT_EQ(rows.complete_from(), kNoon - 5min);
}

TEST(SeenRows, SurviveARestart) {
  SeenRows rows;
  rows.add(1, kNoon);
  rows.add(SeenRows::hash("x"), kNoon + 3ms);
  rows.keep_from(kNoon);
  Writer writer;
  rows.save(writer);
  SeenRows loaded;
  Reader reader(writer.bytes());
  ASSERT_TRUE(loaded.load(reader));
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(loaded.size(), 2U);
  EXPECT_TRUE(loaded.holds(1));
  EXPECT_EQ(loaded.complete_from(), kNoon);
  Reader cut(std::string_view(writer.bytes()).substr(0, writer.bytes().size() - 1));
  EXPECT_FALSE(SeenRows().load(cut));
}

TEST(SeenRows, AreBoundedAndSaySoByTheTimeTheyReachBackTo) {
  SeenRows rows;
  const auto count = static_cast<std::int64_t>(SeenRows::kMost) + 1000;
  for (std::int64_t i = 0; i < count; ++i) {
    rows.add(static_cast<std::uint64_t>(i) + 1, kNoon + Duration(i));
  }
  rows.keep_from(kNoon);
  EXPECT_LE(rows.size(), SeenRows::kMost);
  EXPECT_GE(rows.complete_from(), kNoon + Duration(1000));
  EXPECT_TRUE(rows.holds(static_cast<std::uint64_t>(count)));
}

}  // namespace
}  // namespace outcomed
