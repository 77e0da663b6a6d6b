#include "detectors/price/blend.h"

#include <gtest/gtest.h>

namespace outcomed {
namespace {

Money usd(const char* text) { return *parse_money(text); }

const TokenPrices kPeak{usd("0.27"), usd("1.10"), usd("0.07"), {}, {}};
const TokenPrices kOffPeak{usd("0.135"), usd("0.55"), usd("0.035"), {}, {}};

TariffCosts costs(std::int64_t expected, std::int64_t off_peak, std::int64_t peak) {
  return {{expected}, {off_peak}, {peak}};
}

TEST(Blend, LiesBetweenTheTariffsByTheShareAtPeak) {
  const auto half = blend(kPeak, kOffPeak, costs(150, 100, 200), {1'000'000, 0, 0, 1'000'000, 0});
  ASSERT_TRUE(half);
  EXPECT_EQ(half->peak_share, 0.5);
  EXPECT_EQ(half->prices.input, usd("0.2025"));
  EXPECT_EQ(half->prices.cached_input, usd("0.0525"));
  EXPECT_EQ(half->prices.output, usd("0.825"));
  EXPECT_FALSE(half->prices.reasoning) << "no price of its own before, none after";
  EXPECT_EQ(half->total, usd("1.0275"));
  EXPECT_EQ(half->exact, usd("1.0275"));
}

TEST(Blend, NeverLeavesTheOfficialBounds) {
  for (const std::int64_t expected : {-1000, 0, 100, 101, 199, 200, 100'000}) {
    const auto one = blend(kPeak, kOffPeak, costs(expected, 100, 200), {});
    ASSERT_TRUE(one);
    for (const auto& [price, low, high] :
         {std::tuple(one->prices.input, kOffPeak.input, kPeak.input),
          std::tuple(one->prices.output, kOffPeak.output, kPeak.output),
          std::tuple(one->prices.cached(), kOffPeak.cached(), kPeak.cached())}) {
      EXPECT_LE(low, price);
      EXPECT_LE(price, high);
    }
  }
}

TEST(Blend, GivesTheTotalWithinHalfAPercentForAnyShareAndMixture) {
  const std::int64_t sizes[] = {1, 1'000, 3'333'333, 1'000'000'000};
  for (const std::int64_t input : sizes) {
    for (const std::int64_t output : sizes) {
      for (int percent = 0; percent <= 100; ++percent) {
        const BillableTokens tokens{input * 7, input, 0, output * 5, output};
        const std::int64_t low = cost_of(kOffPeak, tokens).nano;
        const std::int64_t high = cost_of(kPeak, tokens).nano;
        const std::int64_t now = low + (high - low) * percent / 100;
        const auto one = blend(kPeak, kOffPeak, costs(now, low, high), tokens);
        ASSERT_TRUE(one);
        EXPECT_NEAR(static_cast<double>(one->total.nano), static_cast<double>(now),
                    static_cast<double>(now) * 0.0005 + 1);
      }
    }
  }
}

TEST(Blend, IsNothingWhereHoursDoNotMatter) {
  EXPECT_FALSE(blend(kPeak, kPeak, costs(100, 100, 100), {}));
  EXPECT_FALSE(blend(kPeak, kOffPeak, costs(0, 0, 0), {})) << "no traffic";
  EXPECT_FALSE(peak_share(costs(5, 7, 7)));
}

TEST(Blend, AClassWithAPriceAtOneTariffOnlyIsBlendedWithItsKind) {
  TokenPrices peak = kPeak;
  peak.reasoning = usd("2.20");
  const auto half = blend(peak, kOffPeak, costs(150, 100, 200), {});
  ASSERT_TRUE(half);
  EXPECT_EQ(half->prices.reasoning, usd("1.375")) << "between 0.55 and 2.20";
}

TEST(Blend, PeakMayBeTheCheaperOne) {
  const auto odd = blend(kOffPeak, kPeak, costs(150, 200, 100), {});
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->peak_share, 0.5);
  EXPECT_EQ(odd->prices.input, usd("0.2025"));
}

}  // namespace
}  // namespace outcomed
