#include "detectors/baseline/baseline.h"

#include <gtest/gtest.h>

#include "detectors/baseline/fold.h"
#include "tests/alerts/settings_visitor.h"
#include "tests/detectors/day_feed.h"

namespace outcomed {
namespace {

using std::chrono::hours;
using testing::items;
using testing::kDayLength;
using testing::kFirstDay;
using testing::midnight;

// One feed, a day at a time.
class Feed {
 public:
  explicit Feed(BaselineParams params = {}, SignalWords words = items())
      : detector_(std::move(params), std::move(words)), fold_(detector_.start({{"feed", "de"}})) {}

  Judgement day(std::int64_t n, std::int64_t k, Coverage coverage = Coverage::complete) {
    advance(*fold_, {midnight(day_), kDayLength, n, k, coverage});
    ++day_;
    return fold_->judgement(0);
  }
  // Around k of n, a little off on each day as real ones are.
  void days(int count, std::int64_t n, std::int64_t k) {
    static constexpr int kOff[] = {0, 2, -1, 1, -2, 3, 0, -3, 1, -1};
    for (int i = 0; i < count; ++i) {
      const std::int64_t off = n >= 20 ? kOff[i % 10] * std::max<std::int64_t>(1, n / 100) : 0;
      day(n, std::clamp<std::int64_t>(k + off, 0, n));
    }
  }
  [[nodiscard]] std::string says() const { return fold_->verdict(0).sentence; }
  [[nodiscard]] Judgement judgement() const { return fold_->judgement(0); }
  [[nodiscard]] std::string fact(const std::string& name) const {
    for (const auto& [key, value] : fold_->verdict(0).facts) {
      if (key == name) return value;
    }
    return "";
  }

  BaselineDetector detector_;
  std::unique_ptr<Fold> fold_;
  std::int64_t day_ = kFirstDay;
};

TEST(Baseline, AHalvedShareIsSaidInOneSentence) {
  Feed feed;
  feed.days(28, 60, 21);
  EXPECT_EQ(feed.judgement(), Judgement::healthy);
  EXPECT_EQ(feed.day(60, 5), Judgement::breached);
  EXPECT_EQ(
      feed.says(),
      "feed=de: 5 of 60 items passed (8.3 %) on 2026-11-26; usual is 35 % (median of 14 days) "
      "- less than half of that, and chance alone does this once in 240 years; since "
      "2026-11-26.");
  EXPECT_EQ(feed.fold_->onset(), midnight(feed.day_ - 1));
}

TEST(Baseline, AHalvingThatChanceExplainsIsHealthyAndSaysSo) {
  Feed feed;
  feed.days(28, 20, 6);
  EXPECT_EQ(feed.day(20, 2), Judgement::healthy);
  EXPECT_NE(feed.says().find("- less than half of that, but chance alone does this once in "),
            std::string::npos)
      << feed.says();
  EXPECT_NE(feed.fact("halving_rule").find("would fire"), std::string::npos);
}

TEST(Baseline, AFallThatDoesNotHalveIsFoundByEvidence) {
  Feed feed;
  feed.days(28, 50, 42);
  int days = 0;
  while (feed.day(50, 26) != Judgement::breached && days < 10) ++days;
  EXPECT_LE(days, 1);
  EXPECT_NE(feed.says().find("- not halved, but so far below normal that chance alone does this"),
            std::string::npos)
      << feed.says();
  feed.day(50, 25);
  EXPECT_NE(feed.says().find("- not halved, but below normal for 2 days (51 of 100, 51 %), and "
                             "chance alone does this "),
            std::string::npos)
      << feed.says();
}

TEST(Baseline, ASlowFallDoesNotTeachItselfIn) {
  Feed feed;
  feed.days(28, 200, 120);
  double share = 0.6;
  int days = 0;
  for (; days < 40 && feed.judgement() != Judgement::breached; ++days) {
    share *= 0.985;
    feed.day(200, std::llround(share * 200));
  }
  EXPECT_LT(days, 25);
  EXPECT_GT(share, 0.5 * 0.6) << "before it has halved";
  const std::string usual = feed.fact("median");
  for (int i = 0; i < 10; ++i) feed.day(200, std::llround(share * 200));
  EXPECT_EQ(feed.judgement(), Judgement::breached) << "it stays while the level is low";
  EXPECT_EQ(feed.fact("median"), usual) << "frozen";
}

TEST(Baseline, ARiseIsFoundToo) {
  Feed feed;
  feed.days(28, 50, 8);
  feed.day(50, 27);
  EXPECT_EQ(feed.judgement(), Judgement::breached);
  EXPECT_NE(feed.says().find("so far above normal that chance alone"), std::string::npos)
      << feed.says();
  BaselineParams falls;
  falls.direction = "falls";
  Feed deaf(falls);
  deaf.days(28, 50, 8);
  EXPECT_EQ(deaf.day(50, 27), Judgement::healthy);
}

TEST(Baseline, ADoublingIsTheMirrorOfAHalving) {
  BaselineParams params;
  params.rises_to = "200%";
  Feed feed(params);
  feed.days(28, 100, 20);
  EXPECT_EQ(feed.day(100, 48), Judgement::breached);
  EXPECT_NE(feed.says().find("more than twice that, and chance alone does this"), std::string::npos)
      << feed.says();
}

TEST(Baseline, WithoutEnoughDaysThereIsNoNormal) {
  Feed feed;
  EXPECT_EQ(feed.judgement(), Judgement::too_few);
  EXPECT_EQ(feed.says(), "feed=de: no day is over yet.");
  for (int i = 0; i < 7; ++i) EXPECT_EQ(feed.day(60, 20), Judgement::too_few);
  EXPECT_NE(feed.says().find("no normal yet: 6 of the 7 days that it takes"), std::string::npos)
      << feed.says();
  EXPECT_EQ(feed.day(60, 20), Judgement::healthy);
}

TEST(Baseline, DaysWithoutItemsOrUnseenNeitherVoteNorCount) {
  Feed feed;
  feed.days(28, 60, 21);
  EXPECT_EQ(feed.day(0, 0), Judgement::too_few);
  EXPECT_EQ(feed.says(), "feed=de: no items on 2026-11-26.");
  EXPECT_EQ(feed.day(0, 0, Coverage::missing), Judgement::no_data);
  EXPECT_EQ(feed.says(), "feed=de: nobody looked on 2026-11-27.");
  EXPECT_EQ(feed.day(60, 1, Coverage::partial), Judgement::partial);
  EXPECT_EQ(feed.day(60, 1, Coverage::failed), Judgement::failed);
  EXPECT_EQ(feed.day(60, 61), Judgement::failed) << "more passed than there are";
  EXPECT_EQ(feed.day(60, 21), Judgement::healthy);
  EXPECT_EQ(feed.fact("median"), "35 % of 9 days") << "five of the fourteen are missing";
}

TEST(Baseline, AFeedWithoutWeekendsHasANormal) {
  Feed feed;
  for (int i = 0; i < 42; ++i) feed.day(i % 7 >= 5 ? 0 : 60, i % 7 >= 5 ? 0 : 21);
  EXPECT_EQ(feed.fact("median"), "");
  EXPECT_EQ(feed.day(60, 4), Judgement::breached);
  EXPECT_EQ(feed.fact("median"), "35 % of 10 days");
}

TEST(Baseline, FewerThanMinItemsAreNoVote) {
  BaselineParams params;
  params.days.min_items = 20;
  Feed feed(params);
  feed.days(28, 60, 21);
  EXPECT_EQ(feed.day(19, 0), Judgement::too_few);
  EXPECT_EQ(feed.says(), "feed=de: 19 items on 2026-11-26, fewer than 20: not judged.");
}

TEST(Baseline, AnEpisodeEndsWithANormalDay) {
  Feed feed;
  feed.days(28, 60, 21);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(feed.day(60, 4), Judgement::breached);
  EXPECT_EQ(feed.day(0, 0, Coverage::missing), Judgement::no_data);
  EXPECT_EQ(feed.day(60, 20), Judgement::healthy);
  EXPECT_NE(feed.says().find("- normal again."), std::string::npos) << feed.says();
  feed.day(60, 22);
  EXPECT_EQ(feed.fact("normal").substr(0, 4), "35 %") << "what was bad is not normal";
  EXPECT_NE(feed.fact("normal").find("28 days"), std::string::npos) << feed.fact("normal");
}

TEST(Baseline, OneLuckyDayOfASmallFeedDoesNotEndAnEpisode) {
  Feed feed;
  feed.days(28, 12, 7);
  int days = 0;
  while (feed.judgement() != Judgement::breached && ++days < 30) feed.day(12, 2);
  ASSERT_LT(days, 10);
  feed.day(12, 5);
  EXPECT_EQ(feed.judgement(), Judgement::breached) << feed.says();
  int back = 0;
  while (feed.judgement() != Judgement::healthy && ++back < 30) feed.day(12, 7);
  EXPECT_LT(back, 5);
}

TEST(Baseline, APartWayBackIsNotNormal) {
  Feed feed;
  feed.days(28, 300, 180);
  feed.day(300, 60);
  ASSERT_EQ(feed.judgement(), Judgement::breached);
  for (int i = 0; i < 5; ++i) feed.day(300, 130);
  EXPECT_NE(feed.judgement(), Judgement::healthy) << feed.says();
}

TEST(Baseline, WhatLastsLongEnoughIsTheNewNormal) {
  Feed feed;
  feed.days(28, 60, 30);
  int days = 0;
  for (; feed.judgement() != Judgement::breached; ++days) feed.day(60, 10);
  for (; feed.judgement() == Judgement::breached && days < 60; ++days) feed.day(60, 10);
  EXPECT_EQ(feed.judgement(), Judgement::healthy);
  EXPECT_EQ(days, 29);
  EXPECT_NE(feed.says().find("counts as normal from now on"), std::string::npos) << feed.says();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(feed.day(60, 10), Judgement::healthy) << feed.says();
  EXPECT_EQ(feed.day(60, 0), Judgement::breached) << "a further fall is seen";
}

TEST(Baseline, MinutesAreSummedToTheDaysOfTheTimeZone) {
  // Clocks go forward on the fifth day and back on the twentieth, in the night.
  const auto zone = std::make_shared<testing::MadeZone>(3, midnight(kFirstDay + 5) - hours(1),
                                                        midnight(kFirstDay + 20) - hours(2));
  BaselineParams params;
  params.days.time_zone = "Test/East";
  const SignalWords words{"items", "passed", hours(1),
                          std::make_shared<testing::OneZone>("Test/East", zone)};
  const BaselineDetector detector(params, words);
  const auto fold = detector.start({});
  const Timestamp begin = begin_of_day(zone.get(), kFirstDay);
  std::map<std::int64_t, std::int64_t> hours_of;
  for (Timestamp at = begin; at < begin + kDayLength * 30; at += hours(1)) {
    const std::int64_t day = local_day(zone.get(), at);
    ++hours_of[day];
    advance(*fold, {at, hours(1), 4, day >= kFirstDay + 26 ? 0 : 2, Coverage::complete});
    const bool over = local_day(zone.get(), at + hours(1)) > day;
    if (over) {
      EXPECT_EQ(fold->verdict(0).n, 4 * hours_of[day]) << day - kFirstDay;
    }
    const bool bad = over ? day >= kFirstDay + 26 : day > kFirstDay + 26;
    EXPECT_EQ(fold->judgement(0) == Judgement::breached, bad) << day - kFirstDay;
  }
  EXPECT_EQ(hours_of[kFirstDay + 4] + hours_of[kFirstDay + 5], 47);
  EXPECT_EQ(hours_of[kFirstDay + 19] + hours_of[kFirstDay + 20], 49);
}

TEST(Baseline, ADayOfWhichHalfWasSeenIsJudgedByIt) {
  for (const int seen : {11, 12}) {
    const BaselineDetector detector({}, {"items", "passed", hours(1), nullptr});
    const auto fold = detector.start({});
    for (int hour = 0; hour < 28 * 24; ++hour) {
      advance(*fold, {midnight(kFirstDay) + hours(hour), hours(1), 10, 5, Coverage::complete});
    }
    for (int hour = 28 * 24; hour < 29 * 24; ++hour) {
      const bool looked = hour < 28 * 24 + seen;
      advance(*fold, {midnight(kFirstDay) + hours(hour), hours(1), 10, 0,
                      looked ? Coverage::complete : Coverage::missing});
    }
    EXPECT_EQ(fold->judgement(0), seen < 12 ? Judgement::partial : Judgement::breached);
    if (seen == 12) {
      EXPECT_NE(fold->verdict(0).sentence.find(", of which 50 % was seen"), std::string::npos)
          << fold->verdict(0).sentence;
    }
  }
}

TEST(Baseline, HowBucketsAreCutIntoRunsOrStoredDoesNotMatter) {
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    const testing::MadeRun made(seed, 4 * 140, 3);
    BaselineParams params;
    if (seed % 2 == 0) params.restart_on = {"threshold"};
    if (seed % 3 == 0) params.rises_to = "150%";
    params.days.baseline_days = seed % 4 == 0 ? 5 : 14;
    const BaselineDetector detector(params, {"items", "passed", made.length, nullptr});
    EXPECT_EQ(testing::differing_step(
                  made,
                  [&] {
                    return detector.start({{"feed", "de"}});
                  },
                  [](std::size_t m) {
                    return Labels{{"threshold", std::to_string(m)}};
                  }),
              "")
        << "seed " << seed;
  }
}

TEST(Baseline, HugeCountsAndOldBucketsDoNoHarm) {
  Feed feed;
  feed.days(20, 1'000'000'000, 340'000'000);
  EXPECT_EQ(feed.judgement(), Judgement::healthy) << feed.says();
  EXPECT_EQ(feed.day(1'000'000'000, 120'000'000), Judgement::breached) << feed.says();
  const std::string before = testing::memory_of(*feed.fold_);
  advance(*feed.fold_, {midnight(kFirstDay), kDayLength, 60, 60, Coverage::complete});
  advance(*feed.fold_, {midnight(feed.day_), Duration(0), 60, 60, Coverage::complete});
  EXPECT_EQ(testing::memory_of(*feed.fold_), before) << "seen before, and of no length";
  for (const std::int64_t n : {INT64_MAX, INT64_MIN, std::int64_t{-1}}) {
    EXPECT_EQ(feed.day(n, 0), Judgement::failed);
  }
  EXPECT_EQ(feed.day(10, -1), Judgement::failed);
}

TEST(Baseline, BytesThatAreNotAMemoryAreRefused) {
  Feed feed;
  feed.days(40, 60, 20);
  const std::string bytes = testing::memory_of(*feed.fold_);
  for (std::size_t length = 0; length < bytes.size(); length += 7) {
    Feed other;
    Reader reader(std::string_view(bytes).substr(0, length));
    EXPECT_FALSE(other.fold_->load(reader)) << length;
  }
}

TEST(Baseline, AllOrNothingHasANormalToo) {
  Feed all;
  all.days(28, 50, 50);
  EXPECT_EQ(all.day(50, 50), Judgement::healthy);
  EXPECT_EQ(all.day(50, 12), Judgement::breached) << all.says();
  Feed none;
  for (int i = 0; i < 28; ++i) none.day(50, 0);
  EXPECT_EQ(none.day(50, 0), Judgement::healthy);
  EXPECT_EQ(none.day(50, 30), Judgement::breached) << none.says();
}

TEST(Baseline, TheMemoryStaysSmall) {
  Feed feed;
  for (int i = 0; i < 2000; ++i) feed.day(60, i % 200 < 150 ? 20 + i % 3 : 5);
  EXPECT_LT(testing::memory_of(*feed.fold_).size(), 1'200U);
  EXPECT_FALSE(feed.fold_->idle());
  EXPECT_TRUE(Feed().fold_->idle());
}

TEST(Baseline, SettingsThatMeanNothingAreProblems) {
  const auto problems = [](auto change) {
    BaselineParams params;
    change(params);
    testing::SettingsVisitor visitor;
    params.visit(visitor, items());
    EXPECT_TRUE(visitor.all_explained);
    return visitor.problems;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(problems([](auto&) {}), Names{});
  EXPECT_EQ(problems([](auto& p) { p.falls_to = 1; }), Names{"falls_to"});
  EXPECT_EQ(problems([](auto& p) { p.rises_to = "50%"; }), Names{"rises_to"});
  EXPECT_EQ(problems([](auto& p) { p.rises_to = "twice"; }), Names{"rises_to"});
  EXPECT_EQ(problems([](auto& p) { p.rises_to = "200%"; }), Names{});
  EXPECT_EQ(problems([](auto& p) { p.direction = "up"; }), Names{"direction"});
  EXPECT_EQ(problems([](auto& p) { p.days.time_zone = "Nowhere"; }), Names{"time_zone"});
  EXPECT_EQ(problems([](auto& p) { p.days.false_page_every = hours(1); }),
            Names{"false_page_every"});
  EXPECT_EQ(problems([](auto& p) { p.days.accept_after = hours(24); }), Names{"accept_after"});
}

}  // namespace
}  // namespace outcomed
