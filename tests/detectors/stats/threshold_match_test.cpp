#include "detectors/stats/threshold_match.h"

#include <gtest/gtest.h>

namespace outcomed {
namespace {

using Pairs = std::vector<ScorePair>;

ThresholdMatch match_of(const Pairs& pairs, double old_threshold) {
  return match_threshold(make_pair_table(pairs), old_threshold).value();
}

TEST(ThresholdMatch, IsExactWhereAScoreGivesTheShare) {
  const ThresholdMatch got = match_of({{9, 4}, {9, 3}, {1, 2}, {1, 1}}, 5);
  EXPECT_EQ(got.verdict, MatchVerdict::exact);
  ASSERT_EQ(got.thresholds.size(), 1U);
  EXPECT_EQ(got.thresholds[0].threshold, 3);
  EXPECT_EQ(got.thresholds[0].share.value, .5);
  EXPECT_EQ(got.tie_fraction, 1);
}

TEST(ThresholdMatch, IsBracketedByTheTwoNeighboursOfTheShare) {
  // Old: 2 of 5. New: 1 of 5 from 9 on, 4 of 5 from 8 on.
  const ThresholdMatch got = match_of({{9, 9}, {9, 8}, {1, 8}, {1, 8}, {1, 2}}, 5);
  EXPECT_EQ(got.verdict, MatchVerdict::bracketed);
  ASSERT_EQ(got.thresholds.size(), 2U);
  EXPECT_EQ(got.thresholds[0].threshold, 8);
  EXPECT_DOUBLE_EQ(got.thresholds[0].share.value.value(), .8);
  EXPECT_EQ(got.thresholds[1].threshold, 9);
  EXPECT_DOUBLE_EQ(got.thresholds[1].share.value.value(), .2);
  EXPECT_DOUBLE_EQ(got.tie_fraction, 1.0 / 3);
}

TEST(ThresholdMatch, IsImpossibleWhereTooManyShareTheHighestScore) {
  const ThresholdMatch got = match_of({{9, 5}, {1, 5}, {1, 5}, {1, 1}}, 5);
  EXPECT_EQ(got.verdict, MatchVerdict::impossible);
  ASSERT_EQ(got.thresholds.size(), 2U);
  EXPECT_EQ(got.thresholds[0].threshold, 5);
  EXPECT_DOUBLE_EQ(got.thresholds[0].share.value.value(), .75);
  EXPECT_FALSE(got.thresholds[1].threshold);
  EXPECT_EQ(got.thresholds[1].share.value, 0);
  EXPECT_DOUBLE_EQ(got.tie_fraction, 1.0 / 3);
}

TEST(ThresholdMatch, OfNobodyIsAboveEveryScoreAndOfAllIsTheLowest) {
  const ThresholdMatch none = match_of({{1, 5}, {1, 4}}, 9);
  EXPECT_EQ(none.verdict, MatchVerdict::exact);
  EXPECT_FALSE(none.thresholds.at(0).threshold);
  const ThresholdMatch all = match_of({{1, 5}, {1, 4}}, 0);
  EXPECT_EQ(all.verdict, MatchVerdict::exact);
  EXPECT_EQ(all.thresholds.at(0).threshold, 4);
  EXPECT_FALSE(match_threshold(PairTable{}, 1));
}

TEST(ThresholdMatch, OfWeightsThatAddUpInAnotherOrderIsStillExact) {
  Pairs pairs;
  for (int i = 0; i < 30; ++i)
    pairs.push_back({i % 3 == 0 ? 9.0 : 1.0, i % 3 == 0 ? 7.0 : 2.0, .1 * (1 + i)});
  const ThresholdMatch got = match_of(pairs, 5);
  EXPECT_EQ(got.verdict, MatchVerdict::exact);
  EXPECT_EQ(got.thresholds.at(0).threshold, 7);
}

}  // namespace
}  // namespace outcomed
