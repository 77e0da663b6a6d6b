#include "detectors/stats/level_watch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "detectors/stats/binomial.h"

namespace outcomed {
namespace {

// Fourteen days of 52 to 70 items; the figures were computed with scipy 1.10.1.
std::vector<DayCount> two_weeks() {
  const std::vector<std::int64_t> k = {20, 23, 18, 25, 21, 19, 30, 12, 22, 24, 20, 26, 17, 23};
  const std::vector<std::int64_t> n = {60, 61, 59, 64, 60, 58, 70, 52, 60, 66, 60, 63, 57, 62};
  std::vector<DayCount> days;
  for (std::size_t i = 0; i < k.size(); ++i) days.push_back({std::int64_t(i), n[i], k[i]});
  return days;
}

TEST(NormalLevel, OfTwoWeeksOfItems) {
  const auto level = normal_level(two_weeks());
  ASSERT_TRUE(level);
  EXPECT_NEAR(level->share, 0.352112676, 2e-4);  // Here half an item is added.
  EXPECT_EQ(level->days, 14);
  // By moments below 0 (-0.00569), raised by its error to about 0.001, drawn half-way to 0.01.
  EXPECT_GT(level->rho, 0.005);
  EXPECT_LT(level->rho, 0.006);
  EXPECT_GT(level->high_rho, level->rho);
  EXPECT_LT(level->worst_share(), level->share);
  EXPECT_NEAR(level->error(), std::sqrt(level->share * (1 - level->share) * level->variance),
              1e-15);
}

TEST(NormalLevel, IsNothingForNoDaysAndNeverZeroOrOne) {
  EXPECT_FALSE(normal_level({}));
  for (const std::int64_t k : {0, 100}) {
    const DayCount day{0, 100, k};
    const auto level = normal_level({&day, 1});
    ASSERT_TRUE(level);
    EXPECT_GT(level->share, 0);
    EXPECT_LT(level->share, 1);
    EXPECT_GT(level->rho, 0);
    EXPECT_TRUE(std::isfinite(level->error()));
    EXPECT_LE(level->worst_share(), 0.995);
  }
}

TEST(NormalLevel, TheChanceOfADayCountsTheErrorOfTheLevel) {
  NormalLevel level;
  level.share = 0.3;
  level.high_rho = 0.015;
  level.variance = 0.005;
  EXPECT_NEAR(chance_of_at_most(level, 40, 5), 0.03636624622912203, 1e-12);  // scipy, rho 0.02.
  EXPECT_NEAR(chance_of_at_most(level, 40, 40), 1, 1e-12);
  const double many = chance_of_at_most(level, 4'000'000, 400'000);
  EXPECT_GT(many, 0);
  EXPECT_LT(many, 0.05);
}

// The worst normal itself: the mean of e^evidence must not pass 1.
TEST(LevelWatch, ANormalDayIsNoEvidenceOnAverage) {
  NormalLevel level;
  level.share = 0.4;
  level.rho = 0.02;
  level.variance = 1e-4;
  const double worst = level.worst_share();
  for (const LevelWatch::Against against :
       {LevelWatch::Against::shares, LevelWatch::Against::odds}) {
    for (const double share : {worst, level.share, 0.9}) {
      double mean = 0;
      for (std::int64_t k = 0; k <= 60; ++k) {
        LevelWatch watch(against);
        watch.take(level, {1, 60, k});
        EXPECT_NEAR(watch.evidence(), watch.today(), 1e-9) << "the first day is all there is";
        mean += beta_binomial_pmf(k, 60, share, level.rho) * std::exp(watch.today());
      }
      EXPECT_LE(mean, 1 + 1e-9);
      if (share == worst) {
        EXPECT_NEAR(mean, 1, 1e-9);
      }
    }
  }
}

// The sum of M over shares that are watched together may grow by their number a day at most, so a
// weight of 1/2 and one of 3/2 spend what two of 1 do.
TEST(LevelWatch, AWeightIsTheStartThatEachDayGives) {
  const auto level = normal_level(two_weeks());
  LevelWatch plain(LevelWatch::Against::odds);
  LevelWatch light(LevelWatch::Against::odds);
  LevelWatch changing(LevelWatch::Against::odds);
  for (std::int64_t day = 20; day < 24; ++day) {
    plain.take(*level, {day, 60, 14});
    light.take(*level, {day, 60, 14}, 0.25);
    changing.take(*level, {day, 60, 14}, day < 22 ? 0.25 : 1);
    EXPECT_NEAR(light.evidence(), plain.evidence() + std::log(0.25), 1e-12);
  }
  EXPECT_GT(changing.evidence(), light.evidence());
  EXPECT_LT(changing.evidence(), plain.evidence());
  EXPECT_EQ(light.today(), plain.today());
  EXPECT_EQ(light.onset(), plain.onset());
}

TEST(LevelWatch, RunsFromTheFirstBadDayOn) {
  const auto level = normal_level(two_weeks());
  LevelWatch watch(LevelWatch::Against::shares);
  EXPECT_EQ(watch.running_since(), LevelWatch::kNever);
  for (std::int64_t day = 20; day < 24; ++day) watch.take(*level, {day, 60, 24});
  EXPECT_EQ(watch.running_since(), LevelWatch::kNever);
  for (std::int64_t day = 24; day < 28; ++day) watch.take(*level, {day, 60, 12});
  EXPECT_EQ(watch.running_since(), 24);
  EXPECT_EQ(watch.onset(), 24);
  EXPECT_GT(watch.evidence(), 5);
  Writer writer;
  watch.save(writer);
  LevelWatch other(LevelWatch::Against::shares);
  Reader reader(writer.bytes());
  ASSERT_TRUE(other.load(reader));
  EXPECT_EQ(other.evidence(), watch.evidence());
  EXPECT_EQ(other.running_since(), 24);
  LevelWatch foreign(LevelWatch::Against::odds);
  Reader again(writer.bytes());
  EXPECT_FALSE(foreign.load(again)) << "of another shape";
  watch.reset();
  EXPECT_EQ(watch.running_since(), LevelWatch::kNever);
  EXPECT_TRUE(std::isinf(watch.evidence()));
}

}  // namespace
}  // namespace outcomed
