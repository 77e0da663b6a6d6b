#include "detectors/price/span.h"

#include <gmock/gmock.h>

#include "detectors/price/findings.h"
#include "tests/detectors/price/traffic.h"

namespace outcomed {
namespace {

using testing::booked_at;
using testing::booked_rightly;
using testing::Booking;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::hour_of;
using testing::old_tariff;
using testing::published;
using testing::usd;

constexpr Duration kHour = std::chrono::hours(1);
constexpr Duration kDay = 24 * kHour;
const Timestamp kBegin = *parse_timestamp("2026-03-02T00:00:00Z");

// A span of hours, fed with batches.
class Span {
 public:
  explicit Span(int hours, PriceParams params = {})
      : range_{kBegin, kBegin + hours * kHour}, span_(range_, published(), std::move(params)) {}

  void feed(const std::string& model, const std::string& provider_model, Timestamp start,
            const std::vector<SpendAmounts>& hours, Coverage coverage = Coverage::complete) {
    SignalBatch batch;
    batch.range = {start, start + static_cast<int>(hours.size()) * kHour};
    batch.step = kHour;
    batch.coverage.assign(hours.size(), coverage);
    std::vector<Labels> cells;
    for (std::size_t i = 0; i < kSpendKinds; ++i) {
      cells.push_back({{"kind", std::string(to_string(static_cast<SpendKind>(i)))},
                       {"model", model},
                       {"provider_model", provider_model}});
      for (const SpendAmounts& hour : hours) batch.n.push_back(hour.values[i]);
    }
    span_.add(batch, cells);
  }
  // The traffic of traffic.h from `start` on.
  void feed_hours(const std::string& model, int hours, const Booking& booking,
                  Timestamp start = kBegin) {
    std::vector<SpendAmounts> amounts;
    for (int i = 0; i < hours; ++i) {
      amounts.push_back(hour_of(pricer_, start + i * kHour, booking));
    }
    feed(model, "deepseek/deepseek-chat", start, amounts);
  }
  // One hour of equal rows of a model.
  void feed_rows(const std::string& model, const std::string& provider_model, int rows,
                 TokenCounts tokens, Money recorded) {
    SpendRow row;
    row.provider_model = provider_model;
    row.at = kBegin;
    row.tokens = tokens;
    row.recorded = recorded;
    SpendAmounts amounts;
    for (int i = 0; i < rows; ++i) amounts.add(row, pricer_.price(row));
    feed(model, provider_model, kBegin, {amounts});
  }

  [[nodiscard]] PriceSpanReport report(std::string_view model = {}) const {
    return span_.report(model);
  }
  [[nodiscard]] std::vector<std::string> findings() const {
    std::vector<std::string> texts;
    for (const PriceFinding& one : report().findings) {
      texts.push_back(std::string(to_string(one.kind)) + ": " + one.subject + ": " + one.message);
    }
    return texts;
  }

 private:
  TimeRange range_;
  PriceSpan span_;
  RowPricer pricer_{published()};
};

// The published case.
TEST(PriceSpan, FindsTheOldTariffAndProposesTheBlendOfTwentyEightDays) {
  Span span(28 * 24);
  span.feed_hours("chat", 28 * 24, booked_at(old_tariff()));
  const PriceSpanReport report = span.report();
  EXPECT_NEAR(compared(report.total).ratio(), 0.61, 0.001);
  EXPECT_THAT(span.findings(),
              ElementsAre("ratio: chat (deepseek/deepseek-chat): 61 % of the expected cost was "
                          "booked (13.50 of 22.13 USD)",
                          "rows_off: chat (deepseek/deepseek-chat): 67 648 of 67 648 rows (100 %) "
                          "are off by more than 2 %, all of them booked as a former tariff",
                          "outside_bounds: chat (deepseek/deepseek-chat): 67 648 of 67 648 rows "
                          "(100 %) lie outside off-peak and peak"));
  ASSERT_EQ(report.blends.size(), 1U);
  const ModelBlend& one = report.blends.front();
  EXPECT_EQ(one.days, 28);
  const auto due = static_cast<double>(compared(report.total).expected.nano);
  EXPECT_NEAR(static_cast<double>(one.blend.total.nano), due, 0.005 * due);
  for (const auto& [price, low, high] :
       {std::tuple(one.blend.prices.input, usd("0.135"), usd("0.27")),
        std::tuple(one.blend.prices.cached(), usd("0.035"), usd("0.07")),
        std::tuple(one.blend.prices.output, usd("0.55"), usd("1.10"))}) {
    EXPECT_LE(low, price);
    EXPECT_LE(price, high);
  }
}

TEST(PriceSpan, BlendsOnlyTheLastTwentyEightDays) {
  Span span(40 * 24);
  span.feed_hours("chat", 12 * 24, booked_rightly());
  span.feed_hours("chat", 28 * 24, booked_at(old_tariff()), kBegin + 12 * kDay);
  const PriceSpanReport report = span.report();
  ASSERT_EQ(report.blends.size(), 1U);
  EXPECT_EQ(report.blends.front().days, 28);
  EXPECT_EQ(format_money(report.blends.front().blend.total), "22.13");
  EXPECT_EQ(format_money(report.blends.front().booked), "13.50");
  EXPECT_NEAR(compared(report.total).ratio(), (12 + 28 * .61) / 40, 0.001);
}

TEST(PriceSpan, FindsNothingWhereAllIsRight) {
  Span span(24);
  span.feed_hours("chat", 24, booked_rightly());
  EXPECT_THAT(span.findings(), ElementsAre());
}

TEST(PriceSpan, AnEmptySpanHasNothing) {
  const PriceSpanReport report = Span(24).report();
  EXPECT_TRUE(report.names.empty() && report.findings.empty() && report.blends.empty());
}

TEST(PriceSpan, NamesOfOneModelAreHeldAgainstEachOther) {
  Span span(24);
  span.feed_hours("chat", 24, booked_rightly());
  span.feed_hours("cheap", 24, booked_at(old_tariff()));
  EXPECT_THAT(span.findings(),
              ::testing::Contains(
                  "names_differ: deepseek-chat of deepseek: cheap (deepseek/deepseek-chat) is "
                  "booked at 61 % and chat (deepseek/deepseek-chat) at 100 %"));
  ASSERT_EQ(span.report().blends.size(), 1U) << "one price for both";
  EXPECT_EQ(format_money(span.report().blends.front().blend.exact), "1.58");
}

TEST(PriceSpan, SaysWhichClassesAreBookedForNothing) {
  Span span(1);
  // 400 of 1000 prompt tokens are cached; off-peak, 0.135 and 0.55.
  span.feed_rows("chat", "deepseek-chat", 5, {1000, 400, 0, 200, 0}, {81'000 + 110'000});
  EXPECT_THAT(span.findings(),
              ElementsAre("rows_off: chat (deepseek-chat): 5 of 5 rows (100 %) are off by more "
                          "than 2 %",
                          "outside_bounds: chat (deepseek-chat): 5 of 5 rows (100 %) lie outside "
                          "off-peak and peak",
                          "class_unbilled: chat (deepseek-chat): 5 of 5 rows (100 %) are booked "
                          "as cached input for nothing (5)"));
}

TEST(PriceSpan, SaysWhatHasNoPrice) {
  Span span(1);
  span.feed_rows("chat", "deepseek-chat", 5, {1000, 0, 0, 200, 0}, {});
  span.feed_rows("new", "openai/gpt-9", 5, {1000, 0, 0, 200, 0}, usd("0.01"));
  EXPECT_THAT(span.findings(),
              ElementsAre("price_missing: chat (deepseek-chat): 5 of 5 rows (100 %) have tokens "
                          "and no cost",
                          "price_unknown: new (openai/gpt-9): 5 rows cost 0.05 USD, and no table "
                          "has a price for them: add the model to prices, or an alias"));
}

TEST(PriceSpan, SaysThatTheTableIsOld) {
  Span span(24 * 100);
  span.feed_hours("chat", 24, booked_rightly());
  EXPECT_THAT(span.findings(),
              ElementsAre("table_old: deepseek: the price table was read on 2026-02-01, more than "
                          "90d before the end of the span; read it again"));
}

TEST(PriceSpan, FewRowsAreNoFinding) {
  Span span(1);
  span.feed_rows("chat", "deepseek-chat", 2, {1000, 400, 0, 200, 0}, usd("1"));
  EXPECT_THAT(span.findings(), ElementsAre());
  EXPECT_EQ(span.report().total.of(SpendKind::rows_off), 2);
}

TEST(PriceSpan, StepsWithoutCompleteDataAreNotCounted) {
  Span span(24);
  RowPricer pricer(published());
  const SpendAmounts hour = hour_of(pricer, kBegin, booked_rightly());
  span.feed("chat", "deepseek-chat", kBegin, {hour});
  span.feed("chat", "deepseek-chat", kBegin + kHour, {hour, hour}, Coverage::failed);
  EXPECT_EQ(span.report().unknown, 2 * kHour);
  EXPECT_EQ(span.report().total, hour);
}

TEST(PriceSpan, ShowsOneModelByEitherName) {
  Span span(24);
  span.feed_hours("chat", 24, booked_rightly());
  span.feed_rows("new", "openai/gpt-9", 5, {1000, 0, 0, 200, 0}, usd("0.01"));
  for (const char* name : {"new", "openai/gpt-9"}) {
    const PriceSpanReport report = span.report(name);
    ASSERT_EQ(report.names.size(), 1U) << name;
    EXPECT_EQ(report.total.of(SpendKind::recorded_cost), usd("0.05").nano);
    EXPECT_TRUE(report.blends.empty());
  }
  EXPECT_TRUE(span.report("gone").names.empty());
}

}  // namespace
}  // namespace outcomed
