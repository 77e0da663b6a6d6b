// What a successful request costs.
#include <gtest/gtest.h>

#include "detectors/price/price.h"
#include "tests/detectors/price/traffic.h"

namespace outcomed {
namespace {

using testing::PriceGroup;
using testing::usd;

Labels judge() { return {{"model", "judge"}}; }

// `successes` of `requests` succeeded; `each` is what one request cost, in nano-units.
SpendAmounts hour(std::int64_t requests, std::int64_t successes, std::int64_t each) {
  SpendAmounts amounts;
  amounts.add(SpendKind::requests, requests);
  amounts.add(SpendKind::successes, successes);
  amounts.add(SpendKind::rows_unknown, requests);
  amounts.add(SpendKind::recorded_cost, requests * each);
  amounts.add(SpendKind::unmatched_cost, requests * each);
  return amounts;
}

PriceParams dearer(double by = 1.0) {
  PriceParams params;
  params.against_prices = false;
  params.dearer = by;
  params.min_requests = 100;
  return params;
}

// No tables: the rule works without.
PriceGroup group(PriceParams params) {
  return PriceGroup(std::move(params), judge(), std::chrono::hours(1), nullptr);
}

void feed(PriceGroup& to, int hours, const SpendAmounts& amounts) {
  to.feed(std::vector<SpendAmounts>(static_cast<std::size_t>(hours), amounts));
}

TEST(CostPerSuccess, ThatDoublesIsFound) {
  PriceGroup found = group(dearer());
  feed(found, 8 * 24, hour(100, 100, 2'000'000));
  EXPECT_EQ(found.verdict().judgement, Judgement::healthy);
  EXPECT_EQ(found.verdict().sentence,
            "judge: a successful request cost 0.002 in the last 1d (4.80 for 2 400 requests, 2 400 "
            "of them successful), 1 times the 0.002 of the rest of 28 days.");
  feed(found, 24, hour(100, 80, 4'000'000));
  const Verdict verdict = found.verdict();
  EXPECT_EQ(verdict.judgement, Judgement::breached);
  EXPECT_EQ(verdict.sentence,
            "judge: a successful request cost 0.005 in the last 1d (9.60 for 2 400 requests, 1 920 "
            "of them successful), 2.5 times the 0.002 of the rest of 28 days.");
  EXPECT_NEAR(verdict.measured, 2.5, 1e-9);
  EXPECT_EQ(verdict.threshold, 2);
  EXPECT_EQ(verdict.n, 2400);
  EXPECT_EQ(verdict.k, 480);
  EXPECT_EQ(found.fact("cost_per_success"), "0.005");
  EXPECT_EQ(found.fact("cost_per_success_before"), "0.002");
  EXPECT_EQ(verdict.onset, found.next() - std::chrono::hours(24));
}

TEST(CostPerSuccess, HoldsWhatFailedAndAttemptsCost) {
  PriceGroup found = group(dearer(0.5));
  feed(found, 8 * 24, hour(100, 100, 2'000'000));
  feed(found, 24, hour(100, 60, 2'000'000));  // The same price, 40 % for nothing.
  EXPECT_EQ(found.verdict().judgement, Judgement::breached);
}

TEST(CostPerSuccess, ThatIsTwiceWhatItWasIsNotYetMoreThanTwice) {
  PriceGroup edge = group(dearer());
  feed(edge, 8 * 24, hour(100, 100, 2'000'000));
  feed(edge, 24, hour(100, 100, 4'000'000));
  EXPECT_EQ(edge.verdict().judgement, Judgement::healthy);
}

TEST(CostPerSuccess, IsComparedFromAWeekOn) {
  PriceGroup young = group(dearer());
  feed(young, 6 * 24, hour(100, 100, 2'000'000));
  feed(young, 24, hour(100, 100, 9'000'000));
  EXPECT_EQ(young.verdict().judgement, Judgement::healthy);
}

TEST(CostPerSuccess, OfFewSuccessesIsNotJudged) {
  PriceGroup few = group(dearer());
  feed(few, 8 * 24, hour(100, 100, 2'000'000));
  feed(few, 24, hour(100, 4, 2'000'000));
  EXPECT_EQ(few.verdict().judgement, Judgement::too_few);
  feed(few, 24, hour(100, 0, 2'000'000));
  EXPECT_EQ(few.verdict().judgement, Judgement::too_few);
  EXPECT_NE(few.verdict().sentence.find("no request succeeded in the last 1d"), std::string::npos);
}

TEST(CostPerSuccess, OfModelsThatCostNothingIsHealthy) {
  PriceGroup free = group(dearer());
  SpendAmounts none = hour(100, 100, 0);
  none.add(SpendKind::rows_unpriced, 100);  // No finding here: there is no price to hold.
  feed(free, 9 * 24, none);
  EXPECT_EQ(free.verdict().judgement, Judgement::healthy);
  feed(free, 24, hour(100, 100, 5));
  EXPECT_EQ(free.verdict().judgement, Judgement::healthy) << "twice nothing is nothing";
}

TEST(CostPerSuccess, AboveALineIsFoundWithoutAPast) {
  PriceParams params;
  params.against_prices = false;
  params.most_per_success = usd("0.01");
  PriceGroup found = group(params);
  feed(found, 1, hour(100, 100, 10'000'000));
  EXPECT_EQ(found.verdict().judgement, Judgement::healthy);
  feed(found, 1, hour(100, 99, 10'000'000));
  EXPECT_EQ(found.verdict().judgement, Judgement::breached);
  EXPECT_EQ(found.verdict().sentence,
            "judge: a successful request cost 0.01005 in the last 1d (2.00 for 200 requests, 199 "
            "of them successful), above the line of 0.01.");
  EXPECT_NEAR(found.verdict().measured, 1.005, 1e-3);  // Of the line.
  EXPECT_EQ(found.verdict().threshold, 1);
}

TEST(CostPerSuccess, StandsBesideTheRatioInOneRule) {
  PriceParams params;
  params.most_per_success = usd("0.0001");
  PriceGroup both(params, judge());
  SpendAmounts off;
  off.add(SpendKind::requests, 100);
  off.add(SpendKind::successes, 100);
  off.add(SpendKind::rows_priced, 100);
  off.add(SpendKind::recorded_cost, 50'000'000);
  off.add(SpendKind::expected_cost, 100'000'000);
  both.feed({off});
  EXPECT_EQ(both.verdict().judgement, Judgement::breached);
  EXPECT_EQ(both.verdict().sentence,
            "judge: 50 % of the expected cost was booked (0.05 of 0.10 USD) in the last 1d, 100 "
            "requests; a successful request cost 0.0005 USD in the last 1d (0.05 USD for 100 "
            "requests, 100 of them successful), above the line of 0.0001 USD.");
}

TEST(CostPerSuccess, GoesOnAfterARestart) {
  PriceGroup before = group(dearer());
  feed(before, 8 * 24, hour(100, 100, 2'000'000));
  feed(before, 24, hour(100, 80, 4'000'000));
  auto fold = before.detector().start(judge());
  const std::string saved = before.saved();
  Reader reader(saved);
  ASSERT_TRUE(fold->load(reader));
  EXPECT_TRUE(reader.at_end());
  EXPECT_TRUE(fold->breached());
  EXPECT_EQ(fold->verdict(0).sentence, before.verdict().sentence);
}

}  // namespace
}  // namespace outcomed
