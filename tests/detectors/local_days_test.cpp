#include "detectors/local_days.h"

#include <gtest/gtest.h>

#include <map>

#include "detectors/chance_words.h"
#include "tests/detectors/day_feed.h"

namespace outcomed {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::kDayLength;
using testing::kFirstDay;
using testing::MadeZone;
using testing::midnight;

// How many buckets of one length went into each day, in the order in which the days were closed.
std::map<std::int64_t, int> gathered(std::shared_ptr<const TimeZone> zone, Timestamp begin,
                                     Duration length, int count) {
  LocalDays days(std::move(zone));
  std::map<std::int64_t, int> closed;
  int open = 0;
  const auto close = [&] {
    EXPECT_FALSE(closed.contains(days.day())) << "a day is closed once";
    closed[days.day()] = std::exchange(open, 0);
    days.close();
  };
  for (int i = 0; i < count; ++i) {
    const Bucket bucket{begin + length * i, length, 1, 1, Coverage::complete};
    EXPECT_TRUE(days.accepts(bucket));
    if (days.begins_another(bucket)) close();
    ++open;
    if (days.take(bucket, true)) close();
  }
  return closed;
}

TEST(LocalDays, ADailyBucketIsADayAtOnce) {
  const auto days = gathered(nullptr, midnight(kFirstDay), kDayLength, 3);
  EXPECT_EQ(days,
            (std::map<std::int64_t, int>{{kFirstDay, 1}, {kFirstDay + 1, 1}, {kFirstDay + 2, 1}}));
}

TEST(LocalDays, DaysOfTheZoneAreNotThoseOfUtc) {
  const auto zone = std::make_shared<MadeZone>(3, Timestamp{}, Timestamp{});
  const auto days = gathered(zone, midnight(kFirstDay) - hours(3), minutes(1), 2 * 1440);
  EXPECT_EQ(days, (std::map<std::int64_t, int>{{kFirstDay, 1440}, {kFirstDay + 1, 1440}}));
}

TEST(LocalDays, DaysOnWhichClocksChangeHave23And25Hours) {
  const auto zone = std::make_shared<MadeZone>(1, midnight(kFirstDay + 1) + hours(1),
                                               midnight(kFirstDay + 3) + hours(1));
  const auto days = gathered(zone, midnight(kFirstDay) - hours(1), hours(1), 5 * 24);
  EXPECT_EQ(days.at(kFirstDay), 24);
  EXPECT_EQ(days.at(kFirstDay + 1), 23);
  EXPECT_EQ(days.at(kFirstDay + 2), 24);
  EXPECT_EQ(days.at(kFirstDay + 3), 25);
}

TEST(LocalDays, ABucketOverMidnightBelongsToTheDayOfItsMiddle) {
  const auto days = gathered(nullptr, midnight(kFirstDay), hours(7), 24);  // Seven days.
  int sum = 0;
  for (const auto& [day, count] : days) {
    EXPECT_TRUE(count == 3 || count == 4) << day - kFirstDay;
    sum += count;
  }
  EXPECT_EQ(days.size(), 7U);
  EXPECT_EQ(sum, 24);
  // 21:00 to 04:00 is more of the day that follows it.
  EXPECT_EQ(days.at(kFirstDay), 3);
}

TEST(LocalDays, DailyBucketsOfAnotherZoneAreTheDayThatTheyShareMostWith) {
  const auto west = std::make_shared<MadeZone>(-5, Timestamp{}, Timestamp{});
  EXPECT_EQ(gathered(west, midnight(kFirstDay), kDayLength, 1).begin()->first, kFirstDay);
  const auto far_west = std::make_shared<MadeZone>(-11, Timestamp{}, Timestamp{});
  EXPECT_EQ(gathered(far_west, midnight(kFirstDay), kDayLength, 1).begin()->first, kFirstDay);
  const auto east = std::make_shared<MadeZone>(10, Timestamp{}, Timestamp{});
  EXPECT_EQ(gathered(east, midnight(kFirstDay), kDayLength, 1).begin()->first, kFirstDay);
}

TEST(LocalDays, AHoleOfDaysClosesTheOpenOne) {
  LocalDays days(nullptr);
  EXPECT_FALSE(days.take({midnight(kFirstDay), hours(1), 1, 1, Coverage::complete}, true));
  const Bucket later{midnight(kFirstDay + 4), hours(1), 1, 1, Coverage::complete};
  EXPECT_TRUE(days.begins_another(later));
  EXPECT_EQ(days.day(), kFirstDay);
  EXPECT_NEAR(days.seen(), 1.0 / 24, 1e-12);
  EXPECT_EQ(days.unseen(), Judgement::partial);
  days.close();
  days.take(later, true);
  EXPECT_EQ(days.day(), kFirstDay + 4);
}

TEST(LocalDays, ABucketOfAClosedDayIsRefused) {
  LocalDays days(nullptr);
  EXPECT_TRUE(days.take({midnight(kFirstDay), hours(24), 1, 1, Coverage::complete}, true));
  days.close();
  EXPECT_FALSE(days.accepts({midnight(kFirstDay), hours(24), 1, 1, Coverage::complete}));
  EXPECT_FALSE(days.accepts({midnight(kFirstDay) + hours(20), hours(5), 1, 1, {}}));
  EXPECT_TRUE(days.accepts({midnight(kFirstDay + 1), hours(1), 1, 1, Coverage::complete}));
}

TEST(ChanceWords, SayHowOftenWithTwoDigits) {
  EXPECT_EQ(format_once_in(4012), "once in 4,000 days");
  EXPECT_EQ(format_once_in(12.4), "once in 12 days");
  EXPECT_EQ(format_once_in(730), "once in 730 days");
  EXPECT_EQ(format_once_in(9'960), "once in 10,000 days");
  EXPECT_EQ(format_once_in(11'000), "once in 30 years");
  EXPECT_EQ(format_once_in(1e9), "less than once in 1,000 years");
  EXPECT_EQ(format_once_in(INFINITY), "less than once in 1,000 years");
  for (const double days : {1.2, 0.0, -5.0, std::nan("")}) {
    EXPECT_EQ(format_once_in(days), "every day");
  }
  EXPECT_EQ(format_count(1'234'567), "1,234,567");
  EXPECT_EQ(format_count(-1234), "-1,234");
  EXPECT_EQ(format_count(12), "12");
}

}  // namespace
}  // namespace outcomed
