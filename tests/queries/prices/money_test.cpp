#include "queries/prices/money.h"

#include <gtest/gtest.h>

#include <limits>

namespace outcomed {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::string error_of(std::string_view text) {
  const Result<Money> money = parse_money(text);
  return money ? "" : money.error().message;
}

TEST(Money, IsReadExactly) {
  EXPECT_EQ(parse_money("2.50")->nano, 2'500'000'000);
  EXPECT_EQ(parse_money("0")->nano, 0);
  EXPECT_EQ(parse_money("0.000000001")->nano, 1);
  EXPECT_EQ(parse_money("999999999.999999999")->nano, 999'999'999'999'999'999);
  EXPECT_EQ(parse_money("007.10")->nano, 7'100'000'000);
}

TEST(Money, SaysWhatIsWrong) {
  for (const char* text : {"", ".5", "5.", "-1", "+1", "2.50 USD", "1e-6", "1,20", "1 000", "inf",
                           "nan", "0x10", "0.0000000001", "1234567890", "$2", "٣"}) {
    EXPECT_NE(error_of(text), "") << text;
  }
  EXPECT_EQ(error_of("1e-6"), "not an amount; write digits and a point, per million tokens");
  EXPECT_EQ(error_of("-1"), "a price is never negative; write 0 for what costs nothing");
}

TEST(Money, OfADoubleIsTheNearestNanoUnit) {
  EXPECT_EQ(money_of(1.8299999999999998e-05).nano, 18'300);
  EXPECT_EQ(money_of(0.00030500000000000004).nano, 305'000);
  EXPECT_EQ(money_of(-2.5).nano, -2'500'000'000);
  EXPECT_EQ(money_of(std::numeric_limits<double>::quiet_NaN()).nano, 0);
  EXPECT_EQ(money_of(std::numeric_limits<double>::infinity()).nano, kMost);
  EXPECT_EQ(money_of(-1e300).nano, -kMost);
}

TEST(Money, IsPrintedForPeople) {
  EXPECT_EQ(format_money({0}), "0");
  EXPECT_EQ(format_money({12'400'000'000}), "12.40");
  EXPECT_EQ(format_money({1'204'499'999'999}), "1 204.50");
  EXPECT_EQ(format_money({35'214'999}), "0.03521");
  EXPECT_EQ(format_money({999'999'999}), "1.00");
  EXPECT_EQ(format_money({-20'330'000'000}), "-20.33");
  EXPECT_EQ(format_money({-kMost - 1}), "-9 223 372 036.85");
  EXPECT_EQ(format_exact({135'000'000}), "0.135");
  EXPECT_EQ(format_exact({2'500'000'000}), "2.50");
  EXPECT_EQ(format_count(1'204), "1 204");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(-1'234'567), "-1 234 567");
}

TEST(Money, IsScaledWithoutOverflow) {
  EXPECT_EQ(scale(7, 1, 2), 4);
  EXPECT_EQ(scale(-7, 1, 2), -4);
  EXPECT_EQ(scale(kMost, 1'000, 1'000), kMost);
  EXPECT_EQ(scale(kMost, kMost, 1), kMost);
  EXPECT_EQ(scale(kMost, -kMost, 1), -kMost);
  EXPECT_EQ(add_held(kMost, 1), kMost);
  EXPECT_EQ(add_held(-kMost, -5), -kMost);
}

TEST(Money, ComesApartFromItsCurrency) {
  EXPECT_EQ(split_currency("2.50 USD"),
            std::pair(std::string_view("2.50"), std::string_view("USD")));
  EXPECT_EQ(split_currency("2.50").second, "");
  EXPECT_TRUE(is_currency("USD"));
  EXPECT_FALSE(is_currency("usd"));
  EXPECT_FALSE(is_currency("US$"));
}

}  // namespace
}  // namespace outcomed
