// What `surge` learns.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/detectors/surge_group.h"

namespace outcomed {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::fact;
using testing::kDay;
using testing::Minutes;
using testing::Watched;

TEST(SurgeNormal, ClipsWhatHardlyAnyNormalStepHolds) {
  SurgeNormal normal;
  normal.clipped_ceiling = 0.03;
  EXPECT_EQ(normal.clipped(20, 2), 2);
  EXPECT_EQ(normal.clipped(20, 20), 3);  // 0.6 + 3 · 0.77 + 1
  EXPECT_EQ(normal.clipped(1, 1), 1);
  EXPECT_EQ(normal.clipped(0, 0), 0);
  EXPECT_EQ(normal.clipped(1e9, 1e9), 30'016'432);
  normal.clipped_ceiling = 0.98;
  EXPECT_EQ(normal.clipped(50, 50), 50);
}

TEST(Surge, SaysHonestlyThatItDoesNotKnowTheNormalYet) {
  Watched group;
  EXPECT_EQ(group.judgement(), Judgement::no_data);
  group.minutes_of(300, 20, 6);  // 30 %: normal for this one?
  EXPECT_EQ(group.judgement(), Judgement::too_few);
  EXPECT_EQ(
      group.verdict().sentence,
      "gpt-4o: 360 of 1200 requests failed (30 %) in the last hour; what is normal isn't known "
      "yet, so up to 50 % counts as normal (4 hours and 4800 requests seen; 24 hours and 100 "
      "requests are needed).");
}

TEST(Surge, ANewModelThatOnlyFailsIsFoundWithoutAnyNormal) {
  Watched busy;
  Minutes all;
  for (int i = 0; i < 30; ++i) all.add(20, 20);
  EXPECT_LE(busy.until_breach(all), 4);
  Watched slow;
  Minutes few;
  for (int i = 0; i < 120; ++i) few.add(1, 1);
  EXPECT_LE(slow.until_breach(few), 25);
}

TEST(Surge, ASeriesThatAlwaysFailsMuchIsNormalOnceLearned) {
  Watched group;
  group.learn(3, 14, 20, 0.3);
  EXPECT_EQ(group.judgement(), Judgement::healthy);
  EXPECT_GT(group.series().normal().ceiling, 0.3);
  EXPECT_LT(group.series().normal().ceiling, 0.4);
  std::mt19937_64 random(8);
  Minutes worse;
  worse.add(random, 120, 20, 0.7);
  EXPECT_LE(group.until_breach(worse), 10);
}

TEST(Surge, IsWiderAwakeTheLongerItHasLearned) {
  double before = 1;
  for (const int days : {2, 5, 14}) {
    SurgeParams params;
    params.min_share = 0.005;
    Watched group(params);
    group.learn(4, days);
    EXPECT_TRUE(group.series().normal().known) << days;
    EXPECT_LT(group.series().normal().ceiling, before) << days;
    before = group.series().normal().ceiling;
  }
  EXPECT_LT(before, 0.015);
}

TEST(Surge, IncidentsAreNotLearned) {
  std::mt19937_64 random(11);
  Minutes calm;
  calm.add(random, 20 * kDay, 20, 0.01);
  Watched quiet;
  Watched struck;
  quiet.feed(calm);
  // Six hours at 40 %, in a phase that quiet had too.
  Minutes with = calm;
  for (std::size_t i = 16 * kDay + 600; i < 16 * kDay + 960; ++i) with.k[i] = with.n[i] * 2 / 5;
  EXPECT_EQ(struck.feed(with), 1);
  EXPECT_NEAR(struck.series().normal().share, quiet.series().normal().share, 3e-4);
  EXPECT_NEAR(struck.series().normal().ceiling, quiet.series().normal().ceiling, 1e-3);
  EXPECT_NEAR(struck.series().normal().sigma, quiet.series().normal().sigma, 0.03);
  EXPECT_LT(struck.series().normal().requests, quiet.series().normal().requests);
  EXPECT_EQ(struck.series().gamma_static(), quiet.series().gamma_static());
}

TEST(Surge, WhatLastsForAWholeWindowIsTheNewNormal) {
  SurgeParams params;
  params.learn_days = 4;
  Watched group(params);
  group.learn(2, 5);
  group.minutes_of(3 * kDay, 20, 6);
  EXPECT_TRUE(group.breached());
  group.minutes_of(4 * kDay, 20, 6);
  EXPECT_EQ(group.judgement(), Judgement::healthy);
  EXPECT_GT(group.series().normal().ceiling, 0.3);
}

TEST(Surge, ClumpsThatComeEveryDayCountForLess) {
  std::mt19937_64 random(21);
  Minutes all;
  all.add(random, 28 * kDay, 20, 0.008);
  for (std::size_t i = 0; i + 5 < all.n.size(); ++i) {
    if (random() % 250 != 0) continue;
    const std::size_t length = 1 + random() % 5;
    for (std::size_t j = i; j < i + length; ++j) {
      all.k[j] += 3;
      all.n[j] += 3;
    }
  }
  Watched group;
  const int alarms = group.feed(all);
  EXPECT_LE(alarms, 6);
  EXPECT_LT(group.series().gamma_filter(), 0.7);
  EXPECT_NE(fact(group.verdict(), "weight_of_filter").find("clumpy"), std::string::npos);
}

TEST(Surge, FewRequestsAreTakenTogether) {
  Watched group;
  group.learn(6, 14, 0.2, 0.01);
  EXPECT_EQ(group.series().step(), minutes(5));
  std::mt19937_64 random(3);
  Minutes bad;
  bad.add(random, 240, 0.2, 1);
  const int taken = group.until_breach(bad);
  EXPECT_GT(taken, 10);
  EXPECT_LE(taken, 60);
}

// Mean minutes between false alarms, over `days` of a null, with a budget of one in 1000 minutes.
double measured_arl(std::uint64_t seed, int days, double (*share)(int minute)) {
  SurgeParams params;
  params.false_page_every = minutes(1000);
  params.min_share = 0.005;
  Watched group(params);
  std::mt19937_64 random(seed);
  int alarms = 0;
  for (int day = 0; day < days; ++day) {
    Minutes all;
    for (int i = 0; i < kDay; ++i) all.add(random, 1, 20, share(i));
    const int began = group.feed(all);
    if (day >= 14) alarms += began;
  }
  return double(days - 14) * kDay / std::max(alarms, 1);
}

TEST(SurgeBudget, IsKeptOnIndependentRequests) {
  EXPECT_GE(measured_arl(31, 14 + 200, [](int) { return 0.01; }), 1000);
}

TEST(SurgeBudget, IsKeptOnADayWithRhythm) {
  EXPECT_GE(measured_arl(
                32, 14 + 200,
                [](int minute) { return 0.01 * (1 + 0.6 * std::sin(minute * 2 * M_PI / 1440)); }),
            1000);
}

}  // namespace
}  // namespace outcomed
