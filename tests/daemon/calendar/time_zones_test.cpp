#include "daemon/calendar/time_zones.h"

#include <gtest/gtest.h>

namespace outcomed {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

Timestamp at(std::string_view text) { return *parse_timestamp(text); }

std::shared_ptr<const TimeZone> zone(std::string_view name) {
  return system_time_zones()->find(name);
}

TEST(TimeZones, KnowOffsetsOfSummerAndWinter) {
  const auto berlin = zone("Europe/Berlin");
  ASSERT_NE(berlin, nullptr);
  EXPECT_EQ(berlin->offset(at("2026-07-01T00:00:00Z")), hours(2));
  EXPECT_EQ(berlin->offset(at("2026-12-01T00:00:00Z")), hours(1));
  EXPECT_EQ(zone("Asia/Kolkata")->offset(at("2026-12-01T00:00:00Z")), minutes(330));
}

TEST(TimeZones, DoNotKnowPlacesThatAreNone) {
  EXPECT_EQ(zone("Europe/Nowhere"), nullptr);
  EXPECT_EQ(zone(""), nullptr);
  EXPECT_EQ(zone("../../etc/passwd"), nullptr);
}

TEST(LocalDays, BeginAtLocalMidnight) {
  const auto moscow = zone("Europe/Moscow");
  const std::int64_t day = local_day(moscow.get(), at("2026-11-29T21:00:00Z"));
  EXPECT_EQ(day, local_day(nullptr, at("2026-11-30T12:00:00Z")));
  EXPECT_EQ(begin_of_day(moscow.get(), day), at("2026-11-29T21:00:00Z"));
  EXPECT_EQ(local_day(moscow.get(), at("2026-11-29T20:59:59Z")), day - 1);
}

TEST(LocalDays, HaveTwentyThreeOrTwentyFiveHoursWhereClocksChange) {
  const auto berlin = zone("Europe/Berlin");
  const auto length = [&](std::string_view noon) {
    const std::int64_t day = local_day(berlin.get(), at(noon));
    return begin_of_day(berlin.get(), day + 1) - begin_of_day(berlin.get(), day);
  };
  EXPECT_EQ(length("2026-03-29T12:00:00Z"), hours(23));
  EXPECT_EQ(length("2026-10-25T12:00:00Z"), hours(25));
  EXPECT_EQ(length("2026-11-30T12:00:00Z"), hours(24));
}

TEST(LocalDays, BeginAfterTheGapWhereMidnightIsMissing) {
  const auto beirut = zone("Asia/Beirut");  // Clocks go forward at midnight.
  const std::int64_t day = local_day(beirut.get(), at("2026-03-29T12:00:00Z"));
  EXPECT_EQ(begin_of_day(beirut.get(), day), at("2026-03-28T22:00:00Z"));
}

TEST(LocalDays, BeforeTheEpochAreNegative) {
  EXPECT_EQ(local_day(nullptr, at("1969-12-31T23:59:59Z")), -1);
  EXPECT_EQ(local_day(nullptr, at("1970-01-01T00:00:00Z")), 0);
  EXPECT_EQ(begin_of_day(nullptr, -1), at("1969-12-31T00:00:00Z"));
}

}  // namespace
}  // namespace outcomed
