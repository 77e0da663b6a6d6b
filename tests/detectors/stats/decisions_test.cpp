#include "detectors/stats/decisions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "detectors/stats/intervals.h"

namespace outcomed {
namespace {

using Pairs = std::vector<ScorePair>;

TEST(Decisions, CountAnItemAtTheThresholdAsPassed) {
  const PairTable table = make_pair_table(Pairs{{7, 7}, {7, 6.9}, {6.9, 7}, {6.9, 6.9}, {1, 9}});
  const DecisionTable got = decision_table(table, 7, 7);
  EXPECT_EQ(got.both.items, 1);
  EXPECT_EQ(got.only_old.items, 1);
  EXPECT_EQ(got.only_new.items, 2);
  EXPECT_EQ(got.neither.items, 1);
  EXPECT_DOUBLE_EQ(precision(got).value.value(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(recall(got).value.value(), 1.0 / 2);
  EXPECT_DOUBLE_EQ(agreement(got).value.value(), 2.0 / 5);
  EXPECT_DOUBLE_EQ(old_share(got).value.value(), 2.0 / 5);
  EXPECT_DOUBLE_EQ(new_share(got).value.value(), 3.0 / 5);
}

TEST(Decisions, HaveNoPrecisionWhereNothingPasses) {
  const PairTable table = make_pair_table(Pairs{{7, 1}, {2, 1}});
  const DecisionTable got = decision_table(table, 7, 5);
  EXPECT_FALSE(precision(got).value);
  EXPECT_EQ(recall(got).value.value(), 0);
  EXPECT_FALSE(recall(decision_table(table, 10, 5)).value);
}

TEST(Decisions, GiveWilsonsIntervalOfTheReferencePair) {
  DecisionTable table;
  table.both = {75, 75, 75};
  table.only_new = {332, 332, 332};
  table.only_old = {4, 4, 4};
  table.neither = {257, 257, 257};
  EXPECT_NEAR(precision(table).value.value(), 0.18427518427518427, 1e-15);
  EXPECT_NEAR(precision(table).interval.low, 0.1496211641955479, 1e-12);
  EXPECT_NEAR(precision(table).interval.high, 0.22483339855060383, 1e-12);
  EXPECT_NEAR(recall(table).value.value(), 0.9493670886075949, 1e-15);
  EXPECT_NEAR(agreement(table).value.value(), 0.49700598802395207, 1e-15);
}

TEST(Decisions, AreWorthFewerItemsWhereWeightsDiffer) {
  // Two items of weight 1 and one of 4: (6^2) / 18 = 2 items.
  const PairTable table = make_pair_table(Pairs{{9, 9, 1}, {9, 1, 1}, {9, 9, 4}});
  const ShareEstimate got = recall(decision_table(table, 5, 5));
  EXPECT_DOUBLE_EQ(got.value.value(), 5.0 / 6);
  EXPECT_DOUBLE_EQ(got.effective_n, 2);
  EXPECT_NEAR(got.interval.low, wilson_interval(5.0 / 3, 2).low, 1e-15);
}

TEST(McNemar, IsExactAsInScipy) {
  EXPECT_NEAR(mcnemar_exact(332, 4) / 7.54305437840774e-93, 1, 1e-9);
  EXPECT_NEAR(mcnemar_exact(1, 56) / 8.049116928532385e-16, 1, 1e-10);
  EXPECT_NEAR(mcnemar_exact(386, 0) / 1.2689709186578246e-116, 1, 1e-9);
  EXPECT_NEAR(mcnemar_exact(3, 9), 0.14599609375, 1e-13);
  EXPECT_NEAR(mcnemar_exact(47, 45), 0.9170405196524722, 1e-12);
  EXPECT_NEAR(mcnemar_exact(1200, 1000) / 2.1817026407914194e-05, 1, 1e-9);
  EXPECT_EQ(mcnemar_exact(5, 5), 1);
  EXPECT_EQ(mcnemar_exact(0, 1), 1);
  EXPECT_EQ(mcnemar_exact(0, 0), 1);
  EXPECT_EQ(mcnemar_exact(0, 100000), 0);  // Below what a double can say.
}

TEST(McNemar, OfWeightedItemsWeighsTheFlips) {
  DecisionTable table;
  table.only_new = {20, 40, 80};  // 20 items of weight 2
  table.only_old = {20, 10, 5};   // 20 items of weight 1/2
  EXPECT_NEAR(mcnemar(table, false).value(), normal_two_sided(30 / std::sqrt(85)), 1e-15);
  EXPECT_EQ(mcnemar(table, true).value(), 1);
  table.only_new = {5, 10, 20};
  table.only_old = {4, 2, 1};
  EXPECT_FALSE(mcnemar(table, false));
}

TEST(Auc, CountsTiesHalf) {
  // Passed: 3 and 2; not: 2 and 1. Of four comparisons three are won and one is tied.
  const PairTable table = make_pair_table(Pairs{{9, 3}, {9, 2}, {1, 2}, {1, 1}});
  EXPECT_DOUBLE_EQ(auc(table, 5).value(), 3.5 / 4);
  EXPECT_FALSE(auc(table, 0));
  EXPECT_FALSE(auc(table, 10));
  EXPECT_FALSE(auc(PairTable{}, 5));
}

}  // namespace
}  // namespace outcomed
