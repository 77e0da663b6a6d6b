#include "detectors/absorption/hours.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace outcomed {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Timestamp kStart = from_unix_ms(1'796'040'000'000);  // 2026-11-30T12:00:00Z

// A batch of minutes with cells that are written one by one.
struct Minutes {
  SignalBatch batch;
  std::vector<Labels> cells;

  explicit Minutes(std::size_t steps) {
    batch.range = {kStart, kStart + minutes(1) * std::int64_t(steps)};
    batch.step = minutes(1);
    batch.coverage.assign(steps, Coverage::complete);
  }
  void set(const std::string& model, const std::string& side, std::size_t step, std::int64_t n,
           std::int64_t k) {
    const Labels labels{{"model", model}, {"side", side}};
    auto found = std::ranges::find(cells, labels);
    if (found == cells.end()) {
      cells.push_back(labels);
      batch.n.resize(cells.size() * batch.steps());
      batch.k.resize(cells.size() * batch.steps());
      found = cells.end() - 1;
    }
    const std::size_t at = std::size_t(found - cells.begin()) * batch.steps() + step;
    batch.n[at] = n;
    batch.k[at] = k;
  }
  // Steps [from, to) as a batch of their own.
  [[nodiscard]] SignalBatch cut(std::size_t from, std::size_t to) const {
    SignalBatch part;
    part.range = {kStart + minutes(1) * std::int64_t(from), kStart + minutes(1) * std::int64_t(to)};
    part.step = batch.step;
    part.coverage.assign(batch.coverage.begin() + std::ptrdiff_t(from),
                         batch.coverage.begin() + std::ptrdiff_t(to));
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      for (std::size_t step = from; step < to; ++step) {
        part.n.push_back(batch.n[cell * batch.steps() + step]);
        part.k.push_back(batch.k[cell * batch.steps() + step]);
      }
    }
    return part;
  }
};

std::vector<AbsorptionRow> rows_of(const Minutes& past) {
  AbsorptionHours table(hours(1), {});
  table.add(past.batch, past.cells);
  return table.rows();
}

TEST(AbsorptionHours, OfNothingAreNone) {
  AbsorptionHours table(hours(1), {});
  EXPECT_TRUE(table.rows().empty());
  EXPECT_TRUE(table.groups().empty());
  EXPECT_EQ(totals_of({}).hours, 0);
}

TEST(AbsorptionHours, CountTheHoursOfAFailingProviderAndThoseThatNobodyNoticed) {
  Minutes past(180);
  past.set("a", "consumer", 10, 100, 0);  // Absorbed, and no request failed.
  past.set("a", "provider", 10, 120, 20);
  past.set("a", "consumer", 70, 100, 30);  // Leaks.
  past.set("a", "passed_on", 70, 30, 30);
  past.set("a", "provider", 70, 120, 50);
  past.set("a", "consumer", 130, 100, 0);  // Well.
  past.set("a", "provider", 130, 100, 2);
  const auto rows = rows_of(past);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].verdict, SpanVerdict::absorbed);
  EXPECT_EQ(rows[1].verdict, SpanVerdict::leaking);
  EXPECT_EQ(rows[2].verdict, SpanVerdict::healthy);
  const AbsorptionTotals totals = totals_of(rows);
  EXPECT_EQ(totals.hours, 3);
  EXPECT_EQ(totals.provider_failure_hours, 2);
  EXPECT_EQ(totals.absorbed_hours, 1);
  EXPECT_EQ(totals.leaking_hours, 1);
  EXPECT_EQ(totals.failure_free_hours, 2);
  EXPECT_EQ(totals.failure_free_provider_failure_hours, 1);
  EXPECT_EQ(totals.counts.provider_failures, 72);
  EXPECT_EQ(totals.under_failure.requests, 200);
}

TEST(AbsorptionHours, OneSmallModelThatLeaksIsTheHoursVerdict) {
  Minutes past(60);
  past.set("big", "consumer", 0, 10'000, 0);
  past.set("big", "provider", 0, 10'000, 0);
  past.set("small", "consumer", 0, 40, 40);
  past.set("small", "passed_on", 0, 40, 40);
  past.set("small", "provider", 0, 40, 40);
  const auto rows = rows_of(past);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].verdict, SpanVerdict::leaking);
  EXPECT_TRUE(rows[0].provider_fails) << "though only 0.4 % of all attempts failed";
  EXPECT_EQ(totals_of(rows).under_failure.requests, 40)
      << "only of the model whose provider failed";
}

TEST(AbsorptionHours, AnHourThatWasNotSeenWholeIsNeverWell) {
  Minutes past(180);
  past.set("a", "consumer", 10, 100, 0);
  past.batch.coverage[20] = Coverage::missing;
  past.set("a", "consumer", 20, 1000, 1000);  // Means nothing.
  for (std::size_t step = 60; step < 120; ++step) past.batch.coverage[step] = Coverage::failed;
  past.set("a", "consumer", 130, 100, 60);
  past.set("a", "refused", 130, 60, 60);
  past.batch.coverage[140] = Coverage::partial;
  const auto rows = rows_of(past);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].verdict, SpanVerdict::partial);
  EXPECT_EQ(rows[0].span.counts.consumer_failures, 0);
  EXPECT_EQ(rows[0].span.unknown, minutes(1));
  EXPECT_EQ(rows[1].verdict, SpanVerdict::no_data);
  EXPECT_EQ(rows[2].verdict, SpanVerdict::self_inflicted) << "failures that were seen are said";
  EXPECT_EQ(totals_of(rows).unknown_hours, 2);
  EXPECT_EQ(totals_of(rows).failure_free_hours, 0);
}

TEST(AbsorptionHours, AFailingProviderWithTooFewRequestsIsNotAbsorbed) {
  Minutes past(60);
  past.set("a", "consumer", 0, 3, 0);
  past.set("a", "provider", 0, 10, 9);
  past.set("b", "consumer", 0, 500, 0);
  past.set("b", "provider", 0, 500, 0);
  const auto rows = rows_of(past);
  EXPECT_EQ(rows[0].verdict, SpanVerdict::too_few);
  EXPECT_TRUE(rows[0].provider_fails);
}

TEST(AbsorptionHours, DoNotDependOnHowTheBatchesWereCut) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    Minutes past(300);
    for (int i = 0; i < 400; ++i) {
      const std::string side =
          std::vector<std::string>{"consumer", "provider", "refused", "nobody knows"}[random() % 4];
      const auto n = std::int64_t(random() % 50);
      past.set(random() % 2 == 0 ? "a" : "b", side, random() % 300, n,
               std::int64_t(random() % std::uint64_t(n + 1)));
    }
    for (int i = 0; i < 3; ++i) past.batch.coverage[random() % 300] = Coverage::missing;
    AbsorptionHours pieces(hours(1), {});
    for (std::size_t at = 0; at < 300;) {
      const std::size_t to = std::min<std::size_t>(300, at + 1 + random() % 90);
      pieces.add(past.cut(at, to), past.cells);
      at = to;
    }
    const auto whole = rows_of(past);
    const auto other = pieces.rows();
    ASSERT_EQ(whole.size(), other.size());
    SideCounts by_group;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_EQ(whole[i].span.counts, other[i].span.counts);
      EXPECT_EQ(whole[i].span.unknown, other[i].span.unknown);
      EXPECT_EQ(whole[i].verdict, other[i].verdict);
      for (const AbsorptionPart& part : whole[i].parts) by_group += part.counts;
    }
    EXPECT_EQ(by_group, totals_of(whole).counts) << "groups add up to the whole";
  }
}

TEST(AbsorptionHours, ARangeThatBeginsWithinAnHourHasAShorterFirstRow) {
  Minutes past(60);
  past.batch.range = {kStart + minutes(45), kStart + minutes(105)};
  past.set("a", "consumer", 0, 100, 0);
  const auto rows = rows_of(past);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].span.start, kStart + minutes(45));
  EXPECT_EQ(rows[0].span.length, minutes(15));
  EXPECT_EQ(rows[1].span.length, minutes(45));
  EXPECT_EQ(rows[1].verdict, SpanVerdict::too_few) << "nobody asked";
}

}  // namespace
}  // namespace outcomed
