#include "queries/prices/expected.h"

#include <gtest/gtest.h>

#include <limits>

#include "queries/prices/spend.h"

namespace outcomed {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Money usd(const char* text) { return *parse_money(text); }

// 1 in, 0.1 cached, 1.25 creation, 10 out, 20 reasoning; half of it off-peak; before December flat
// and dearer.
std::shared_ptr<const PriceTables> tables() {
  PriceTable old;
  old.provider = "p";
  old.currency = "USD";
  PricedModel model;
  model.name = "m";
  model.valid_to = *parse_timestamp("2026-12-01");
  model.peak = model.off_peak = {usd("3"), usd("30"), std::nullopt, std::nullopt, std::nullopt};
  old.models.push_back(model);
  PriceTable young = old;
  EXPECT_TRUE(young.calendar.peak.add("08:00-20:00"));
  PricedModel& now = young.models.front();
  now.valid_from = model.valid_to;
  now.valid_to = Timestamp::max();
  now.peak = {usd("1"), usd("10"), usd("0.1"), usd("1.25"), usd("20")};
  now.off_peak = {usd("0.5"), usd("5"), usd("0.05"), usd("0.625"), usd("10")};
  PricedModel gift;
  gift.name = "gift";
  young.models.push_back(gift);
  return std::make_shared<const PriceTables>(std::vector<PriceTable>{old, young});
}

SpendRow row(const char* recorded, std::string_view at = "2026-12-07T12:00:00Z") {
  SpendRow out;
  out.provider_model = "p/m";
  out.tokens = {1000, 400, 100, 200, 50};
  out.recorded = usd(recorded);
  out.at = *parse_timestamp(at);
  return out;
}

// By hand: 500·1 + 400·0.1 + 100·1.25 + 150·10 + 50·20 = 3165 millionths.
constexpr const char* kPeakCost = "0.003165";
constexpr const char* kOffPeakCost = "0.0015825";

TEST(ExpectedCost, CountsEachTokenOnce) {
  const PricedRow priced = price_row(*tables(), row(kPeakCost));
  EXPECT_EQ(priced.verdict, RowVerdict::priced);
  EXPECT_EQ(priced.expected, usd(kPeakCost));
  EXPECT_EQ(priced.peak, usd(kPeakCost));
  EXPECT_EQ(priced.off_peak, usd(kOffPeakCost));
  EXPECT_TRUE(priced.at_peak);
  EXPECT_FALSE(priced.outside);
}

TEST(ExpectedCost, KnowsTheHour) {
  const PricedRow night = price_row(*tables(), row(kOffPeakCost, "2026-12-07T20:00:00Z"));
  EXPECT_EQ(night.verdict, RowVerdict::priced);
  EXPECT_EQ(night.expected, usd(kOffPeakCost));
}

TEST(ExpectedCost, TwoPercentOffIsOff) {
  EXPECT_EQ(price_row(*tables(), row("0.003228")).verdict, RowVerdict::priced);  // +1.99 %
  EXPECT_EQ(price_row(*tables(), row("0.003229")).verdict, RowVerdict::off);     // +2.02 %
  EXPECT_EQ(price_row(*tables(), row("0.003101")).verdict, RowVerdict::off);     // −2.02 %
}

struct Booked {
  const char* recorded;
  BookedAs as;
};

TEST(ExpectedCost, SaysWhatWasBookedInstead) {
  for (const Booked& booked : {
           Booked{kOffPeakCost, BookedAs::off_peak},
           Booked{"0.009", BookedAs::former},              // 3 · 1000 + 30 · 200
           Booked{"0.003125", BookedAs::cached_free},      // − 40
           Booked{"0.003525", BookedAs::cached_full},      // + 360
           Booked{"0.003040", BookedAs::creation_free},    // − 125
           Booked{"0.002165", BookedAs::reasoning_free},   // − 1000
           Booked{"0.003665", BookedAs::reasoning_twice},  // + 50 · 10
           Booked{"0.001665", BookedAs::reasoning_only},   // − 1500
           Booked{"0.0025", BookedAs::input_free},         // − 665
           Booked{"0.000665", BookedAs::output_free},
           Booked{"0.005", BookedAs::unknown},
       }) {
    const PricedRow priced = price_row(*tables(), row(booked.recorded));
    if (booked.as == BookedAs::cached_free) {
      EXPECT_EQ(priced.verdict, RowVerdict::priced) << "1.3 % is within the tolerance";
      continue;
    }
    EXPECT_EQ(priced.verdict, RowVerdict::off) << booked.recorded;
    EXPECT_EQ(priced.booked_as, booked.as) << booked.recorded;
  }
  EXPECT_EQ(price_row(*tables(), row(kPeakCost, "2026-12-07T21:00:00Z")).booked_as, BookedAs::peak);
  EXPECT_EQ(price_row(*tables(), row(kPeakCost, "2026-11-07T12:00:00Z")).booked_as,
            BookedAs::coming);
}

TEST(ExpectedCost, BeyondBothTariffsIsOutside) {
  EXPECT_FALSE(price_row(*tables(), row("0.002")).outside) << "a blended price lies between";
  EXPECT_TRUE(price_row(*tables(), row("0.0015")).outside);
  EXPECT_TRUE(price_row(*tables(), row("0.0033")).outside);
  EXPECT_FALSE(price_row(*tables(), row("0.0032")).outside) << "within the tolerance";
}

TEST(ExpectedCost, TokensWithoutCostAreUnpriced) {
  EXPECT_EQ(price_row(*tables(), row("0")).verdict, RowVerdict::unpriced);
  SpendRow stranger = row("0");
  stranger.provider_model = "nobody/knows";
  EXPECT_EQ(price_row(*tables(), stranger).verdict, RowVerdict::unpriced);
  stranger.recorded = usd("1");
  EXPECT_EQ(price_row(*tables(), stranger).verdict, RowVerdict::unknown_model);
  SpendRow gift = row("0");
  gift.provider_model = "gift";
  EXPECT_EQ(price_row(*tables(), gift).verdict, RowVerdict::priced);
  gift.recorded = usd("0.001");
  EXPECT_EQ(price_row(*tables(), gift).verdict, RowVerdict::off);
}

TEST(ExpectedCost, FailuresAndCacheHitsWithoutCostAreFree) {
  SpendRow failed = row("0");
  failed.failed = true;
  EXPECT_EQ(price_row(*tables(), failed).verdict, RowVerdict::free);
  failed.recorded = usd(kPeakCost);
  EXPECT_EQ(price_row(*tables(), failed).verdict, RowVerdict::priced) << "a failure that was paid";
  SpendRow hit = row("0");
  hit.from_cache = true;
  EXPECT_EQ(price_row(*tables(), hit).verdict, RowVerdict::free);
  SpendRow image = row("0.04");
  image.tokens = {};
  EXPECT_EQ(price_row(*tables(), image).verdict, RowVerdict::free) << "not priced by tokens";
}

TEST(ExpectedCost, PartsBeyondTheWholeAreCountedBesideIt) {
  const BillableTokens apart = billable({100, 900, 50, 10, 40});
  EXPECT_EQ(apart.input, 100);
  EXPECT_EQ(apart.cached, 900);
  EXPECT_EQ(apart.creation, 50);
  EXPECT_EQ(apart.output, 10);
  EXPECT_EQ(apart.reasoning, 40);
}

TEST(ExpectedCost, HostileCountsNeitherOverflowNorPay) {
  EXPECT_TRUE(billable({-5, -1, -kMost, -1, -1}).empty());
  SpendRow huge = row("1");
  huge.tokens = {kMost, kMost, kMost, kMost, kMost};
  EXPECT_GT(price_row(*tables(), huge).expected.nano, 0);
  const TokenPrices dear{
      Money{999'999'999'999'999'999}, Money{999'999'999'999'999'999}, {}, {}, {}};
  EXPECT_EQ(cost_of(dear, billable(huge.tokens)).nano, kMost);
}

TEST(ExpectedCost, IsRoundedOnce) {
  // Five classes of one token each at 0.0001 per million: 0.1 nano-units each.
  const Money tiny{100'000};
  EXPECT_EQ(cost_of({tiny, tiny, {}, {}, {}}, {1, 1, 1, 1, 1}).nano, 1);
  EXPECT_EQ(cost_of({tiny, tiny, {}, {}, {}}, {1, 1, 1, 1, 0}).nano, 0);
  // 3 500 001 tokens at 0.27: exact.
  EXPECT_EQ(cost_of({usd("0.27"), {}, {}, {}, {}}, {3'500'001, 0, 0, 0, 0}).nano, 945'000'270);
}

TEST(ExpectedCost, ForManyRowsIsTheSame) {
  RowPricer pricer(tables());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(pricer.price(row("0.009")).booked_as, BookedAs::former);
    EXPECT_EQ(pricer.price(row(kOffPeakCost, "2026-12-07T20:00:00Z")).verdict, RowVerdict::priced);
  }
  EXPECT_EQ(RowPricer(nullptr).price(row("1")).verdict, RowVerdict::unknown_model);
}

TEST(Spend, KindsHaveNamesThatLeadBack) {
  for (std::size_t i = 0; i < kSpendKinds; ++i) {
    const auto kind = static_cast<SpendKind>(i);
    EXPECT_EQ(spend_kind(to_string(kind)), kind);
  }
  EXPECT_EQ(spend_kind("cost"), std::nullopt);
  EXPECT_EQ(spend_kind(BookedAs::unknown), std::nullopt);
  EXPECT_EQ(spend_kind(BookedAs::peak), SpendKind::booked_peak);
  EXPECT_EQ(spend_kind(BookedAs::output_free), SpendKind::booked_output_free);
  EXPECT_EQ(to_string(*spend_kind(BookedAs::cached_full)), "booked_cached_full");
}

TEST(Spend, AddsUpRows) {
  const auto prices = tables();
  SpendAmounts sum;
  const auto add = [&](const SpendRow& one) { sum.add(one, price_row(*prices, one)); };
  add(row(kPeakCost));
  add(row("0.009"));
  add(row("0"));
  SpendRow failed = row("0");
  failed.failed = true;
  add(failed);
  SpendRow attempt = row(kPeakCost);
  attempt.is_request = false;
  attempt.has_details = false;
  add(attempt);
  SpendRow stranger = row("5");
  stranger.provider_model = "x";
  add(stranger);
  EXPECT_EQ(sum.of(SpendKind::requests), 5);
  EXPECT_EQ(sum.of(SpendKind::recorded_cost), usd("5.01533").nano);
  EXPECT_EQ(sum.of(SpendKind::unmatched_cost), usd("5").nano);
  EXPECT_EQ(sum.of(SpendKind::expected_cost), 4 * usd(kPeakCost).nano);
  EXPECT_EQ(sum.of(SpendKind::rows_priced), 2);
  EXPECT_EQ(sum.of(SpendKind::rows_off), 1);
  EXPECT_EQ(sum.of(SpendKind::rows_unpriced), 1);
  EXPECT_EQ(sum.of(SpendKind::rows_unknown), 1);
  EXPECT_EQ(sum.of(SpendKind::rows_outside), 1);
  EXPECT_EQ(sum.of(SpendKind::rows_bare), 1);
  EXPECT_EQ(sum.of(SpendKind::booked_former), 1);
  EXPECT_EQ(sum.of(SpendKind::prompt_tokens), 5000) << "the failure's tokens are not billed";
}

}  // namespace
}  // namespace outcomed
