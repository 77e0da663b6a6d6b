// Whole feeds through a baseline rule: real answers, and feeds without a change.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "detectors/baseline/baseline.h"
#include "detectors/baseline/day_rule.h"
#include "tests/detectors/day_feed.h"

namespace outcomed {
namespace {

using testing::items;

// Real outcomes of two model versions, replayed as feeds of 5 to 75 items a day; the model changes
// on day 21. Days on which each rule fires first, of those that it judges (from day 15 on).
struct ReplayRow {
  std::string feed;
  int halving;  // The readable rule alone.
  int halved;   // With its guard.
  int evident;  // 0: never.
  bool rises;
};

TEST(Baseline, TheChangeOfAModelIsFoundInRealAnswers) {
  std::ifstream file(std::string(OUTCOMED_DATA) + "/llmdrift_daily_replay.csv");
  if (!file) GTEST_SKIP() << "needs llmdrift_daily_replay.csv in " << OUTCOMED_DATA;
  std::map<std::string, std::vector<DayCount>> feeds;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::string feed, day, version, k, n;
    for (std::string* cell : {&feed, &day, &version, &k, &n}) std::getline(cells, *cell, ',');
    feeds[feed].push_back({std::stoll(day), std::stoll(n), std::stoll(k)});
  }
  const std::vector<ReplayRow> rows = {
      {"prime_acc_gpt4", 0, 0, 22, false},        {"prime_saysyes_gpt4", 21, 21, 21, false},
      {"happy_acc_gpt4", 21, 21, 22, false},      {"opinion_answered_gpt4", 21, 21, 21, false},
      {"leetcode_direct_gpt4", 15, 0, 27, false}, {"sensitive_answered_gpt4", 17, 0, 0, false},
      {"prime_acc_gpt35", 0, 0, 22, true},        {"prime_saysyes_gpt35", 17, 0, 21, true},
      {"opinion_answered_gpt35", 0, 0, 0, false}};
  const BaselineDetector detector({}, items());
  for (const ReplayRow& row : rows) {
    ASSERT_TRUE(feeds.contains(row.feed)) << row.feed;
    DayRule rule(detector);
    int halving = 0;
    int halved = 0;
    int evident = 0;
    for (const DayCount& day : feeds[row.feed]) {
      const DayFinding finding = rule.judge(day, 0);
      const int number = static_cast<int>(day.day);
      if (number < 15) continue;
      if (finding.beyond[0] && halving == 0) halving = number;
      if (finding.halved && halved == 0) halved = number;
      if (finding.evident && evident == 0) {
        evident = number;
        EXPECT_EQ(finding.direction == Direction::rises, row.rises) << row.feed;
      }
    }
    EXPECT_EQ(halving, row.halving) << row.feed;
    EXPECT_EQ(halved, row.halved) << row.feed;
    EXPECT_EQ(evident, row.evident) << row.feed;
  }
}

// One false alarm in 730 days and group at most; twenty feed-years here, so that it runs in a
// moment. The full table: tests/bench/baseline.cpp.
TEST(Baseline, FeedsThatDoNotChangeSeldomAlarm) {
  const BaselineDetector detector({}, items());
  int halving = 0;
  int alarms = 0;
  for (std::uint32_t feed = 0; feed < 20; ++feed) {
    std::mt19937 random(feed);
    DayRule rule(detector);
    bool was_on = false;
    for (std::int64_t day = 0; day < 365; ++day) {
      const std::int64_t k = std::binomial_distribution<std::int64_t>(40, 0.3)(random);
      const DayFinding finding = rule.judge({day, 40, k}, 0);
      halving += finding.beyond[0] ? 1 : 0;
      alarms += rule.in_episode() && !was_on ? 1 : 0;
      was_on = rule.in_episode();
    }
  }
  EXPECT_GT(halving, 60) << "the readable rule alone";
  EXPECT_LE(alarms, 2);
}

}  // namespace
}  // namespace outcomed
