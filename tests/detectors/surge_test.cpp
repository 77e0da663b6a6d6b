// What `surge` finds, and what it does not take for evidence.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/detectors/surge_group.h"

namespace outcomed {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::fact;
using testing::kDay;
using testing::kMidnight;
using testing::Minutes;
using testing::Watched;

TEST(Surge, FindsHalfOfTheRequestsFailingWithinFiveMinutes) {
  Watched group;
  group.learn();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    Minutes bad;
    bad.add(random, 30, 20, 0.5);
    Watched other;
    const std::string bytes = group.bytes();
    Reader reader(bytes);
    ASSERT_TRUE(other.fold_->load(reader));
    const Timestamp began = kMidnight + hours(14 * 24);
    advance(*other.fold_, {began, minutes(1), bad.n[0], bad.k[0], Coverage::complete});
    int taken = 1;
    while (!other.breached() && taken < 30) {
      const auto i = static_cast<std::size_t>(taken);
      advance(*other.fold_,
              {began + minutes(taken), minutes(1), bad.n[i], bad.k[i], Coverage::complete});
      ++taken;
    }
    EXPECT_LE(taken, 5) << seed;
    EXPECT_GE(taken, 3) << seed;  // Three bad steps at least.
    EXPECT_LE(std::abs((other.fold_->onset() - began) / minutes(1)), 3) << seed;
  }
}

TEST(Surge, FindsFivePercentThatTheClassicRuleNeverSees) {
  Watched group;
  group.learn();
  std::mt19937_64 random(5);
  Minutes bad;
  bad.add(random, 300, 20, 0.05);
  const Timestamp began = group.now();
  const int taken = group.until_breach(bad);
  EXPECT_GT(taken, 0);
  EXPECT_LE(taken, 60);
  EXPECT_FALSE(group.series().classic());
  EXPECT_LE(std::abs((group.fold_->onset() - began) / minutes(1)), 5);
}

TEST(Surge, SaysAllItKnowsInOneSentence) {
  Watched group;
  group.learn();
  for (int i = 0; i < 4; ++i) group.minute(20, 8);
  ASSERT_TRUE(group.breached());
  const Verdict verdict = group.verdict();
  EXPECT_EQ(verdict.judgement, Judgement::breached);
  EXPECT_EQ(verdict.n, 80);
  EXPECT_EQ(verdict.k, 32);
  EXPECT_EQ(verdict.onset, kMidnight + hours(14 * 24));
  EXPECT_NE(verdict.sentence.find("gpt-4o: 32 of 80 requests failed (40 %) since 00:00 UTC; normal "
                                  "is at most 2.1 %; chance alone does this once in "),
            std::string::npos)
      << verdict.sentence;
  EXPECT_NE(verdict.sentence.find("the classic rule (over 10 % of 1h for 15m) is silent."),
            std::string::npos)
      << verdict.sentence;
  EXPECT_EQ(fact(verdict, "weight"), "evidence counts in full");
  EXPECT_EQ(fact(verdict, "budget"), "at most one false page every 90d");
  EXPECT_NE(fact(verdict, "learned_from").find("14.0 of 14 days"), std::string::npos)
      << fact(verdict, "learned_from");
  EXPECT_NE(fact(verdict, "visible_in_1h").find("can't support an alert below"), std::string::npos);
  group.minutes_of(60, 20, 8);
  EXPECT_NE(group.verdict().sentence.find("(over 10 % of 1h for 15m) fires too."),
            std::string::npos)
      << group.verdict().sentence;
}

TEST(Surge, EndsWhenAQuarterOfAnHourIsNormalAndStartsAnew) {
  Watched group;
  group.learn();
  group.minutes_of(10, 20, 10);
  ASSERT_TRUE(group.breached());
  group.minutes_of(10, 20, 0);
  EXPECT_TRUE(group.breached());
  group.minutes_of(6, 20, 0);
  EXPECT_EQ(group.judgement(), Judgement::healthy);
  EXPECT_LT(group.series().evidence(), 2);
  Minutes again;
  for (int i = 0; i < 10; ++i) again.add(20, 10);
  const Timestamp began = group.now();
  EXPECT_LE(group.until_breach(again), 6);
  EXPECT_EQ(group.fold_->onset(), began);
}

TEST(Surge, WithoutRequestsAnAlarmIsNeitherConfirmedNorOver) {
  Watched group;
  group.learn();
  group.minutes_of(5, 20, 20);
  ASSERT_EQ(group.judgement(), Judgement::breached);
  group.minutes_of(30, 0, 0);
  EXPECT_EQ(group.judgement(), Judgement::too_few);
  EXPECT_FALSE(group.breached());
  group.minute(20, 20);
  EXPECT_EQ(group.judgement(), Judgement::breached);
}

TEST(Surge, GoodMinutesBeforeDoNotEndAnAlarmWhenTrafficBreaksDown) {
  Watched group;
  group.learn(1, 14, 200);
  group.minutes_of(60, 200, 2);
  Minutes few;
  for (int i = 0; i < 20; ++i) few.add(6, 6);
  EXPECT_LE(group.until_breach(few), 6);
  for (int i = 0; i < 60; ++i) {
    group.minute(6, 6);
    ASSERT_TRUE(group.breached()) << i;
  }
  group.minutes_of(20, 6, 0);
  EXPECT_FALSE(group.breached());
}

TEST(Surge, MinShareIsNormalWhateverTheEvidence) {
  SurgeParams params;
  params.min_share = 0.1;
  Watched group(params);
  group.learn();
  group.minutes_of(600, 50, 4);  // 8 %.
  EXPECT_FALSE(group.breached());
  Minutes worse;
  for (int i = 0; i < 60; ++i) worse.add(50, 20);
  EXPECT_LE(group.until_breach(worse), 40);
}

TEST(Surge, NoSingleBurstPagesHoweverLarge) {
  Watched learned;
  learned.learn();
  const std::string bytes = learned.bytes();
  for (const std::int64_t size : {5, 20, 100, 1'000, 1'000'000, 1'000'000'000}) {
    Watched group;
    Reader reader(bytes);
    ASSERT_TRUE(group.fold_->load(reader));
    Timestamp at = kMidnight + hours(14 * 24);
    advance(*group.fold_, {at, minutes(1), size + 20, size, Coverage::complete});
    for (int i = 1; i <= 240; ++i) {
      EXPECT_FALSE(group.breached()) << size << " after " << i;
      advance(*group.fold_, {at + minutes(i), minutes(1), 20, 0, Coverage::complete});
    }
  }
}

TEST(Surge, BurstsOfRetriesNeitherWidenTheNormalNorHideASpreadOutRise) {
  std::mt19937_64 random(5);
  Minutes bursty;
  for (int i = 0; i < 14 * kDay; ++i) {
    bursty.add(random, 1, 5, 0.01);
    if (i % 500 == 250) bursty.add(bursty.n.back() + 7, 7);  // Every eight hours.
  }
  Watched group;
  EXPECT_EQ(group.feed(bursty), 0);
  const SurgeNormal& normal = group.series().normal();
  EXPECT_LT(normal.clipped_ceiling, normal.ceiling);
  EXPECT_LT(normal.wobble, 0.06);  // Above 0.15 from counts as they are.
  Minutes rise;
  rise.add(random, 90, 5, 0.1);
  EXPECT_EQ(group.feed(rise), 1);
}

TEST(Surge, EmptyStepsAreNoEvidence) {
  Watched group;
  group.learn();
  group.minutes_of(2, 20, 6);
  const double before = group.series().evidence();
  EXPECT_GT(before, 1);
  group.minutes_of(kDay / 2, 0, 0);
  EXPECT_EQ(group.series().evidence(), before);
  for (int i = 0; i < kDay / 4; ++i) group.minute(0, 0, Coverage::missing);
  EXPECT_EQ(group.series().evidence(), before);
  EXPECT_FALSE(group.breached());
  EXPECT_EQ(group.judgement(), Judgement::no_data);
}

TEST(Surge, WhatNobodySawIsNotCounted) {
  for (const Coverage coverage : {Coverage::missing, Coverage::partial, Coverage::failed}) {
    Watched group;
    group.learn();
    group.minute(20, 0);
    const std::string hour = fact(group.verdict(), "learned_from");
    for (int i = 0; i < 30; ++i) group.minute(20, 20, coverage);
    EXPECT_FALSE(group.breached());
    EXPECT_NE(group.judgement(), Judgement::healthy);
    EXPECT_NE(group.judgement(), Judgement::breached);
    group.minute(20, 0);
    EXPECT_EQ(group.judgement(), Judgement::healthy);
    EXPECT_EQ(fact(group.verdict(), "learned_from"), hour);
  }
}

TEST(Surge, ImpossibleCountsHurtNobody) {
  Watched group;
  group.learn();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  group.minute(-5, 3);
  group.minute(10, -3);
  group.minute(kLeast, kLeast);
  EXPECT_FALSE(group.breached());
  group.minute(kMost, 0);
  group.minute(kMost, 1);
  EXPECT_FALSE(group.breached());
  EXPECT_LE(group.series().hour().n, 3'000'000'000);
  // More failures than requests: they were requests too.
  group.minute(0, 7);
  group.minutes_of(10, 0, 20);
  EXPECT_TRUE(group.breached());
  EXPECT_TRUE(std::isfinite(group.series().evidence()));
  group.minutes_of(200, kMost, kMost);
  EXPECT_TRUE(std::isfinite(group.series().evidence()));
  EXPECT_LE(group.verdict().measured, 1);
}

TEST(Surge, TimeThatJumpsHurtsNobody) {
  Watched group;
  group.learn(1, 2);
  for (const Timestamp at : {kMidnight - hours(100), kMidnight + hours(24 * 36'500), kMidnight,
                             from_unix_ms(-5'000'000), from_unix_ms(0)}) {
    advance(*group.fold_, {at, minutes(1), 20, 1, Coverage::complete});
    EXPECT_FALSE(group.breached());
  }
}

}  // namespace
}  // namespace outcomed
