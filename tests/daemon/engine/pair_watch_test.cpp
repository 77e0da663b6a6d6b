#include "daemon/engine/pair_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace outcomed {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::HasSubstr;

constexpr Timestamp kNoon = from_unix_ms(1'796'040'000'000);  // 2026-11-30T12:00:00Z
constexpr PairMember kMetrics = PairMember::metrics;
constexpr PairMember kRows = PairMember::rows;

class PairWatchTest : public ::testing::Test {
 protected:
  // `count` minutes of `n` each.
  void add(PairMember side, Timestamp from, int count, std::int64_t n, bool complete = true) {
    for (int i = 0; i < count; ++i) {
      watch_.add(side, from + minutes(i), minutes(1), n, complete);
    }
  }
  // An hour of both, and what was said at its end.
  std::vector<RuleEvent> hour(int number, std::int64_t metrics, std::int64_t rows) {
    add(kMetrics, kNoon + hours(number), 60, metrics);
    add(kRows, kNoon + hours(number), 60, rows);
    return watch_.judge();
  }
  [[nodiscard]] bool fires() const { return watch_.state().phase == Phase::firing; }

  PairWatch watch_{{"prom", "requests"}, {"ledger", "requests_by_rows"}};
};

TEST_F(PairWatchTest, OfSourcesThatAgreeSaysNothing) {
  EXPECT_TRUE(hour(0, 10, 10).empty());
  EXPECT_TRUE(hour(1, 10, 9).empty());
  EXPECT_TRUE(hour(2, 14, 10).empty());  // Late rows, retries: no fault.
  EXPECT_FALSE(fires());
}

TEST_F(PairWatchTest, TellsThatTheMetricsStandStillWhileRowsArrive) {
  hour(0, 4, 4);
  const auto events = hour(1, 0, 4);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_TRUE(fires());
  EXPECT_EQ(events[0].state.key.severity, "ticket");
  EXPECT_EQ(events[0].state.key.group,
            (Labels{{"compared_with", "ledger"}, {"signal", "requests"}, {"source", "prom"}}));
  EXPECT_EQ(events[0].state.onset, kNoon + hours(1));
  EXPECT_EQ(events[0].state.fired_at, kNoon + hours(2));
  EXPECT_EQ(events[0].verdict->sentence,
            "requests of source prom and requests_by_rows of source ledger differ since 13:00 UTC: "
            "0 against 240 in the hour to 14:00 UTC; the metrics stand still while rows arrive.");
}

TEST_F(PairWatchTest, TellsThatNoRowsArrive) {
  const auto events = hour(0, 4, 0);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_THAT(events[0].verdict->sentence, HasSubstr("240 against 0"));
  EXPECT_THAT(events[0].verdict->sentence, HasSubstr("no rows arrive"));
}

TEST_F(PairWatchTest, KnowsTheDoubledCountsOfOldGateways) {
  const auto events = hour(0, 20, 10);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_THAT(events[0].verdict->sentence, HasSubstr("1200 against 600"));
  EXPECT_THAT(events[0].verdict->sentence, HasSubstr("about twice"));
  EXPECT_THAT(events[0].verdict->sentence, HasSubstr("1.81.14"));
}

TEST_F(PairWatchTest, SaysWhichSideLacksTheRest) {
  EXPECT_THAT(hour(0, 40, 10)[0].verdict->sentence, HasSubstr("rows are missing"));
  hour(1, 10, 10);
  EXPECT_THAT(hour(2, 10, 20)[0].verdict->sentence, HasSubstr("replicas not scraped"));
}

TEST_F(PairWatchTest, TellsOnceHoweverLongItLastsAndOnceThatItIsOver) {
  ASSERT_EQ(hour(0, 0, 4).size(), 1U);
  EXPECT_TRUE(hour(1, 0, 4).empty());
  EXPECT_TRUE(hour(2, 8, 4).empty());
  const auto events = hour(3, 4, 4);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].transition.change, Change::resolved);
  EXPECT_EQ(events[0].transition.at, kNoon + hours(4));
  EXPECT_THAT(events[0].verdict->sentence, HasSubstr("agree again: 240 against 240"));
}

TEST_F(PairWatchTest, FewRequestsAreNoEvidenceEitherWay) {
  add(kMetrics, kNoon, 60, 0);
  add(kRows, kNoon, 20, 0);
  add(kRows, kNoon + minutes(20), 19, 1);
  add(kRows, kNoon + minutes(39), 21, 0);
  EXPECT_TRUE(watch_.judge().empty());  // 19 and none.
  ASSERT_EQ(hour(1, 0, 1).size(), 1U);
  EXPECT_TRUE(hour(2, 0, 0).empty());  // A quiet hour doesn't end it.
  EXPECT_TRUE(fires());
}

TEST_F(PairWatchTest, FiresFromTwentyOn) {
  add(kMetrics, kNoon, 60, 0);
  add(kRows, kNoon, 20, 0);
  add(kRows, kNoon + minutes(20), 20, 1);
  add(kRows, kNoon + minutes(40), 20, 0);
  EXPECT_EQ(watch_.judge().size(), 1U);
}

TEST_F(PairWatchTest, ABurstAtTheEdgeOfAnHourIsSeenInTheNextByTheOther) {
  add(kMetrics, kNoon, 60, 0);
  add(kMetrics, kNoon + hours(1), 1, 300);
  add(kMetrics, kNoon + hours(1) + minutes(1), 59, 0);
  add(kRows, kNoon, 59, 0);
  add(kRows, kNoon + minutes(59), 1, 300);
  add(kRows, kNoon + hours(1), 60, 0);
  EXPECT_TRUE(watch_.judge().empty());
  EXPECT_FALSE(fires());
}

TEST_F(PairWatchTest, OfAnHourWithAMissingStepSaysNothing) {
  for (const bool gap_in_rows : {false, true}) {
    watch_ = PairWatch({"prom", "requests"}, {"ledger", "requests_by_rows"});
    add(gap_in_rows ? kRows : kMetrics, kNoon, 30, 4);
    add(gap_in_rows ? kRows : kMetrics, kNoon + minutes(30), 1, 0, false);
    add(gap_in_rows ? kRows : kMetrics, kNoon + minutes(31), 29, 4);
    add(gap_in_rows ? kMetrics : kRows, kNoon, 60, 0);
    EXPECT_TRUE(watch_.judge().empty());
  }
}

TEST_F(PairWatchTest, AnHourThatWasBegunInItsMiddleIsNotJudged) {
  add(kMetrics, kNoon + minutes(20), 40, 0);
  add(kRows, kNoon, 60, 4);
  EXPECT_TRUE(watch_.judge().empty());
  EXPECT_EQ(hour(1, 0, 4).size(), 1U);
}

TEST_F(PairWatchTest, WaitsForTheSideThatIsBehind) {
  add(kRows, kNoon, 180, 4);
  add(kMetrics, kNoon, 59, 0);
  EXPECT_TRUE(watch_.judge().empty());
  add(kMetrics, kNoon + minutes(59), 61, 0);
  const auto events = watch_.judge();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].transition.at, kNoon + hours(1));
  EXPECT_EQ(watch_.state().last_step, kNoon + hours(2));
}

TEST_F(PairWatchTest, ASideThatIsAwayForMonthsFillsNoMemory) {
  add(kRows, kNoon, 60 * 24 * 60, 4);
  add(kMetrics, kNoon, 60 * 24 * 60, 0);
  const auto events = watch_.judge();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].transition.at, kNoon + hours(24 * 60 - 47));
}

TEST_F(PairWatchTest, StepsToldTwiceCountOnce) {
  add(kMetrics, kNoon, 60, 4);
  add(kRows, kNoon, 60, 4);
  add(kMetrics, kNoon, 60, 4);
  EXPECT_TRUE(watch_.judge().empty());
  EXPECT_FALSE(fires());
}

TEST_F(PairWatchTest, OfHoursBeforeItsBeginSaysNothing) {
  watch_.judge_from(kNoon + hours(1));
  EXPECT_TRUE(hour(0, 0, 4).empty());
  EXPECT_EQ(hour(1, 0, 4).size(), 1U);
}

TEST_F(PairWatchTest, ARestartTellsNothingTwice) {
  hour(0, 0, 4);
  const AlertState state = watch_.state();
  watch_ = PairWatch({"prom", "requests"}, {"ledger", "requests_by_rows"});
  watch_.restore(state);
  EXPECT_TRUE(hour(0, 0, 4).empty());
  EXPECT_TRUE(hour(1, 0, 4).empty());
  EXPECT_EQ(hour(2, 4, 4).size(), 1U);
}

TEST(PairWatch, NeedsStepsThatMakeUpAnHour) {
  SignalPlan metrics;
  SignalPlan rows;
  rows.step = minutes(5);
  EXPECT_TRUE(PairWatch::comparable(metrics, rows));
  rows.step = minutes(7);
  EXPECT_FALSE(PairWatch::comparable(metrics, rows));
  rows.step = hours(24);
  EXPECT_FALSE(PairWatch::comparable(metrics, rows));
}

}  // namespace
}  // namespace outcomed
