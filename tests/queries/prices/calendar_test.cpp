#include "queries/prices/calendar.h"

#include <gtest/gtest.h>

namespace outcomed {
namespace {

using std::chrono_literals::operator""h;

PriceCalendar peak(std::initializer_list<const char*> spans) {
  PriceCalendar calendar;
  for (const char* span : spans) {
    const Status added = calendar.peak.add(span);
    EXPECT_TRUE(added) << added.error().message;
  }
  return calendar;
}

bool is_peak(const PriceCalendar& calendar, std::string_view at) {
  return calendar.is_peak(*parse_timestamp(at));
}

std::string error_of(const char* span) {
  const Status added = WeeklyHours().add(span);
  return added ? "" : added.error().message;
}

TEST(Calendar, TheBeginIsInAndTheEndIsNot) {
  const PriceCalendar calendar = peak({"mon-fri 00:30-16:30"});
  EXPECT_FALSE(is_peak(calendar, "2026-11-30T00:29:59.999Z"));  // A Monday.
  EXPECT_TRUE(is_peak(calendar, "2026-11-30T00:30:00Z"));
  EXPECT_TRUE(is_peak(calendar, "2026-11-30T16:29:59.999Z"));
  EXPECT_FALSE(is_peak(calendar, "2026-11-30T16:30:00Z"));
  EXPECT_TRUE(is_peak(calendar, "2026-12-04T12:00:00Z"));
  EXPECT_FALSE(is_peak(calendar, "2026-12-05T12:00:00Z"));  // Saturday.
  EXPECT_FALSE(is_peak(calendar, "2026-12-06T12:00:00Z"));
}

TEST(Calendar, ASpanOverMidnightBelongsToTheDayOnWhichItBegins) {
  const PriceCalendar calendar = peak({"sat,sun 22:00-02:00"});
  EXPECT_TRUE(is_peak(calendar, "2026-12-05T23:00:00Z"));
  EXPECT_TRUE(is_peak(calendar, "2026-12-06T01:59:00Z"));
  EXPECT_FALSE(is_peak(calendar, "2026-12-06T02:00:00Z"));
  EXPECT_TRUE(is_peak(calendar, "2026-12-07T01:00:00Z")) << "Sunday's goes into Monday";
  EXPECT_FALSE(is_peak(calendar, "2026-12-05T01:00:00Z"));
}

TEST(Calendar, SpansAddUpAndDaysMayWrap) {
  const PriceCalendar calendar = peak({"fri-mon 08:00-10:00", "09:00-12:00"});
  EXPECT_EQ(calendar.peak.minutes(), 4U * 240 + 3 * 180);
  EXPECT_TRUE(is_peak(calendar, "2026-11-30T08:00:00Z"));
  EXPECT_FALSE(is_peak(calendar, "2026-12-01T08:00:00Z"));
  EXPECT_TRUE(is_peak(calendar, "2026-12-01T09:00:00Z"));
  EXPECT_EQ(peak({"00:00-24:00"}).peak.minutes(), WeeklyHours::kMinutes);
}

TEST(Calendar, NoSpansAreNoPeak) { EXPECT_FALSE(is_peak(peak({}), "2026-11-30T12:00:00Z")); }

TEST(Calendar, BeforeTheEpochWeeksGoOn) {
  EXPECT_TRUE(peak({"wed 12:00-13:00"}).is_peak(from_unix_ms(-12 * 3'600'000)));
}

// Central European Time in 2026: two hours ahead from 2026-03-29T01:00Z to 2026-10-25T01:00Z.
class Berlin final : public TimeZone {
 public:
  [[nodiscard]] Duration offset(Timestamp at) const override {
    const bool summer = at >= *parse_timestamp("2026-03-29T01:00:00Z") &&
                        at < *parse_timestamp("2026-10-25T01:00:00Z");
    return summer ? 2h : 1h;
  }
};

TEST(Calendar, HoursAreTheProvidersClock) {
  PriceCalendar calendar = peak({"02:00-03:00"});
  calendar.zone = std::make_shared<Berlin>();
  EXPECT_TRUE(is_peak(calendar, "2026-01-15T01:30:00Z"));
  EXPECT_TRUE(is_peak(calendar, "2026-07-15T00:30:00Z"));
  EXPECT_FALSE(is_peak(calendar, "2026-07-15T01:30:00Z"));
  // The hour that the clocks skip is no time at all, the one they repeat counts twice.
  for (const char* at : {"2026-03-29T00:59:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"}) {
    EXPECT_FALSE(is_peak(calendar, at)) << at;
  }
  EXPECT_TRUE(is_peak(calendar, "2026-10-25T00:30:00Z"));
  EXPECT_TRUE(is_peak(calendar, "2026-10-25T01:30:00Z"));
}

TEST(Calendar, SaysWhatIsWrongWithASpan) {
  EXPECT_EQ(error_of(""), "no hours; write for example mon-fri 00:30-16:30");
  EXPECT_EQ(error_of("mon-fri"),
            "not two times of day; write hours and minutes of two digits "
            "each, as in 00:30-16:30");
  EXPECT_EQ(error_of("monday 00:30-16:30"),
            "no such weekday; write mon tue wed thu fri sat sun, as in mon-fri or sat,sun");
  for (const char* span : {"mon 0:30-16:30", "24:00-01:00", "10:00-24:01", "10:60-11:00",
                           "10:00 - 11:00", "mon  10:00-11:00", "10:00-11:00Z"}) {
    EXPECT_NE(error_of(span), "") << span;
  }
  EXPECT_EQ(error_of("10:00-10:00"), "begins when it ends; write 00:00-24:00 for a whole day");
}

}  // namespace
}  // namespace outcomed
