#include "detectors/stats/rescore.h"

#include <gtest/gtest.h>

namespace outcomed {
namespace {

using Items = std::vector<ScoredItem>;

Items many(std::size_t n, const std::string& feed) {
  Items items;
  for (std::size_t i = 0; i < n; ++i) {
    const auto old_score = static_cast<double>(i % 7);
    items.push_back({feed, "", old_score, old_score + static_cast<double>(i % 3), 1});
  }
  return items;
}

TEST(Rescore, OfNoItemsIsAnError) { EXPECT_FALSE(rescore({}, {5, {}})); }

TEST(Rescore, ReportsEachFeedByNameAndAllTogether) {
  Items items = many(80, "b");
  const Items more = many(30, "a");
  items.insert(items.end(), more.begin(), more.end());
  const auto report = rescore(items, {5, {}});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->feeds.size(), 2U);
  EXPECT_EQ(report->feeds[0].feed, "a");
  EXPECT_EQ(report->feeds[0].n, 30);
  EXPECT_EQ(report->feeds[1].n, 80);
  EXPECT_EQ(report->pooled.n, 110);
}

TEST(Rescore, SaysTooFewBelowSixtyItems) {
  const FeedReport few = rescore(many(59, "a"), {5, {}})->pooled;
  EXPECT_TRUE(few.ranks.spearman);
  EXPECT_TRUE(few.too_few_for_rank_interval);
  EXPECT_FALSE(few.ranks.interval);
  const FeedReport enough = rescore(many(60, "a"), {5, {}})->pooled;
  EXPECT_FALSE(enough.too_few_for_rank_interval);
  EXPECT_TRUE(enough.ranks.interval);
}

TEST(Rescore, CountsTheWorthOfWeightedItemsForTooFew) {
  Items items = many(100, "a");
  for (std::size_t i = 0; i < 10; ++i) items[i].weight = 20;
  const FeedReport report = rescore(items, {5, {}})->pooled;
  EXPECT_EQ(report.n, 100);
  EXPECT_LT(report.effective_n, 60);
  EXPECT_TRUE(report.too_few_for_rank_interval);
  EXPECT_FALSE(report.equal_weights);
}

TEST(Rescore, OfEqualWeightsIsThatWithoutWeights) {
  Items items = many(100, "a");
  const FeedReport plain = rescore(items, {5, 6})->pooled;
  for (ScoredItem& item : items) item.weight = 0.3;
  const FeedReport weighted = rescore(items, {5, 6})->pooled;
  EXPECT_EQ(weighted.effective_n, 100);
  EXPECT_NEAR(weighted.ranks.interval->low, plain.ranks.interval->low, 1e-12);
  EXPECT_NEAR(weighted.shift.interval->low, plain.shift.interval->low, 1e-12);
  EXPECT_NEAR(weighted.at_new_threshold.precision.interval.low,
              plain.at_new_threshold.precision.interval.low, 1e-12);
  EXPECT_EQ(weighted.at_new_threshold.mcnemar_p, plain.at_new_threshold.mcnemar_p);
  EXPECT_NEAR(weighted.distance.psi, plain.distance.psi, 1e-12);
}

TEST(Rescore, DecidesAtTheOldThresholdWhereNoNewOneIsSaid) {
  const FeedReport same = rescore(many(70, "a"), {5, {}})->pooled;
  EXPECT_EQ(same.at_new_threshold.threshold, 5);
  const FeedReport other = rescore(many(70, "a"), {5, 7})->pooled;
  EXPECT_EQ(other.at_old_threshold.threshold, 5);
  EXPECT_EQ(other.at_new_threshold.threshold, 7);
  EXPECT_LT(*other.at_new_threshold.share_new.value, *other.at_old_threshold.share_new.value);
}

TEST(Rescore, OfOneItemHasValuesButNoIntervals) {
  const FeedReport report = rescore(Items{{"a", "x", 3, 4, 1}}, {5, {}})->pooled;
  EXPECT_EQ(report.shift.mean, 1);
  EXPECT_FALSE(report.shift.interval);
  EXPECT_FALSE(report.ranks.spearman);
  EXPECT_FALSE(report.spread_ratio);
  EXPECT_EQ(report.up.value, 1);
  EXPECT_EQ(report.share_old.value, 0);
}

}  // namespace
}  // namespace outcomed
