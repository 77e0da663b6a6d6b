#include "queries/counters/counter_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/queries/counters/counter_world.h"

namespace outcomed {
namespace {

using testing::add_counts;
using testing::CounterWorld;
using testing::Counts;
using testing::plain_plan;
using testing::WorldOptions;

constexpr std::int64_t kT0 = 1'796'000'040'000;  // On a whole minute.

Labels series(std::string metric, std::string instance = "a:1", std::string extra = "") {
  Labels labels{{"__name__", std::move(metric)}, {"job", "gw"}, {"model", "m"}};
  labels.set("instance", std::move(instance));
  labels.set("code", std::move(extra));
  return labels;
}

// Drives a reader with hand-made samples at seconds after kT0.
class Bench {
 public:
  explicit Bench(SignalPlan plan = plain_plan()) : reader({std::move(plan)}) {}

  void put(const Labels& labels, std::vector<std::pair<double, double>> at_value) {
    std::vector<Sample> samples;
    for (const auto& [at, value] : at_value) {
      samples.push_back({kT0 + static_cast<std::int64_t>(at * 1000), value});
    }
    reader.append(reader.open(labels.to_string(), [&] { return labels; }), samples);
  }
  void begin(double from, double to) {
    reader.begin({from_unix_ms(kT0 + std::int64_t(from * 1000)),
                  from_unix_ms(kT0 + std::int64_t(to * 1000))});
  }
  Fetch finish() {
    last = reader.finish();
    return last;
  }
  [[nodiscard]] std::int64_t total_n() const { return sum(last.batches.front().n); }
  [[nodiscard]] std::int64_t total_k() const { return sum(last.batches.front().k); }
  [[nodiscard]] bool said(std::string_view what) const {
    for (const Problem& problem : last.problems) {
      if (problem.what == what) return true;
    }
    return false;
  }
  static std::int64_t sum(const std::vector<std::int64_t>& values) {
    std::int64_t total = 0;
    for (const std::int64_t value : values) total += value;
    return total;
  }

  CounterReader reader;
  Fetch last;
};

TEST(CounterReader, CountsADropAsAResetFromZero) {  // B6: 100,120,5,9 rises by 20 + 5 + 4.
  Bench bench;
  bench.begin(0, 120);
  bench.put(series("served_total"), {{15, 100}, {30, 120}, {45, 5}, {60, 9}});
  bench.finish();
  EXPECT_EQ(bench.total_n(), 29);
}

TEST(CounterReader, CountsASeriesBornWhileTheTargetWasUpFromZero) {  // B5
  Bench bench;
  bench.begin(0, 120);
  bench.put(series("up"), {{15, 1}, {30, 1}, {45, 1}, {60, 1}});
  bench.put(series("failed_total", "a:1", "500"), {{45, 7}, {60, 7}});
  bench.finish();
  EXPECT_EQ(bench.total_k(), 7);
  EXPECT_EQ(bench.total_n(), 7) << "no success series at all: 100 %, not no data";
}

TEST(CounterReader, DoesNotTakeAWholeCounterForAJumpWhenTheTargetIsNew) {
  Bench bench;
  bench.begin(0, 120);
  bench.put(series("failed_total", "a:1", "500"), {{15, 1e6}, {30, 1e6 + 2}});
  bench.finish();
  EXPECT_EQ(bench.total_k(), 2);
}

TEST(CounterReader, DoesNotTakeAWholeCounterForAJumpAfterAScrapeGap) {
  Bench bench;
  bench.begin(0, 7200);
  bench.put(series("served_total"), {{15, 1e6}, {30, 1e6 + 1}, {1830, 1e6 + 50}});
  bench.finish();
  EXPECT_EQ(bench.total_n(), 50);
}

TEST(CounterReader, ReportsWhatRoseOverMoreThanAnHourInsteadOfBookingItIntoOneMinute) {
  Bench bench;
  bench.begin(0, 4 * 3600);
  bench.put(series("served_total"), {{15, 10}, {3 * 3600, 5000}});
  bench.finish();
  EXPECT_EQ(bench.total_n(), 0);
  EXPECT_TRUE(bench.said("unplaced_counts"));
}

TEST(CounterReader, CountsANewPodFromZeroWhenItsProcessStartedUnderWatch) {
  Bench bench;
  bench.begin(0, 600);
  bench.put(series("up"), {{15, 1}, {30, 1}, {300, 1}});
  bench.put(series("served_total"), {{15, 50}, {30, 50}, {300, 50}});
  bench.put(series("process_start_time_seconds", "b:1"), {{300, double(kT0) / 1000 + 250}});
  bench.put(series("served_total", "b:1"), {{300, 7}});
  bench.finish();
  EXPECT_EQ(bench.total_n(), 7);
}

TEST(CounterReader, DoesNotCountANewPodWhoseProcessIsOlderThanTheWatch) {
  Bench bench;
  bench.begin(0, 600);
  bench.put(series("served_total"), {{15, 50}, {300, 50}});
  bench.put(series("process_start_time_seconds", "b:1"), {{300, double(kT0) / 1000 - 9999}});
  bench.put(series("served_total", "b:1"), {{300, 7000}});
  bench.finish();
  EXPECT_EQ(bench.total_n(), 0);
}

TEST(CounterReader, CountsARestartThatClimbedAboveTheOldValueFromZero) {
  Bench bench;
  bench.begin(0, 600);
  bench.put(series("process_start_time_seconds"),
            {{15, double(kT0) / 1000 - 500}, {300, double(kT0) / 1000 + 100}});
  bench.put(series("served_total"), {{15, 40}, {300, 60}});
  bench.finish();
  EXPECT_EQ(bench.total_n(), 60) << "not 20: another process stands behind the target";
}

TEST(CounterReader, TellsTwoWorkersBehindOneTargetApartByTheirStartTimes) {
  Bench bench;
  bench.begin(0, 600);
  const double a = double(kT0) / 1000 - 500;
  const double b = a + 1;
  bench.put(series("process_start_time_seconds"), {{15, a}, {30, b}, {45, a}, {60, b}, {75, a}});
  bench.put(series("served_total"), {{15, 100}, {30, 5}, {45, 103}, {60, 9}, {75, 104}});
  bench.finish();
  EXPECT_EQ(bench.total_n(), 4 + 4) << "3 + 1 of the first, 4 of the second";
  EXPECT_FALSE(bench.said("flapping_counters"));
}

TEST(CounterReader, RaisesAProblemInsteadOfNumbersWhenATargetFlapsWithoutStartTimes) {
  Bench bench;
  bench.begin(0, 600);
  bench.put(series("served_total"),
            {{15, 100}, {30, 5}, {45, 103}, {60, 9}, {75, 104}, {90, 12}, {105, 120}});
  bench.finish();
  EXPECT_TRUE(bench.said("flapping_counters"));
  EXPECT_EQ(bench.last.batches.front().coverage[0], Coverage::failed);
}

TEST(CounterReader, TakesTwoQuickRestartsForRestarts) {
  Bench bench;
  bench.begin(0, 600);
  bench.put(series("served_total"), {{15, 100}, {30, 3}, {45, 9}, {60, 1}, {75, 4}});
  bench.finish();
  EXPECT_FALSE(bench.said("flapping_counters"));
  EXPECT_EQ(bench.total_n(), 3 + 6 + 1 + 3);
}

TEST(CounterReader, IgnoresDuplicatesAndCountsWhatCameLateWithTheNextSample) {
  Bench bench;
  bench.begin(0, 120);
  bench.put(series("served_total"), {{15, 10}, {30, 12}, {30, 12}});
  bench.finish();
  EXPECT_EQ(bench.total_n(), 2);
  bench.begin(120, 240);
  bench.put(series("served_total"), {{20, 11}, {150, 20}});
  bench.finish();
  EXPECT_EQ(bench.total_n(), 8);
}

TEST(CounterReader, SkipsStaleMarkersAndNumbersThatAreNone) {  // C1
  Bench bench;
  const double inf = std::numeric_limits<double>::infinity();
  bench.begin(0, 240);
  bench.put(series("served_total"),
            {{15, 10}, {30, std::nan("")}, {45, inf}, {60, -inf}, {75, -3}, {90, 1e30}, {105, 14}});
  bench.finish();
  EXPECT_EQ(bench.total_n(), 4);
  EXPECT_TRUE(bench.said("not_finite"));
  EXPECT_TRUE(bench.said("negative_counter"));
  EXPECT_TRUE(bench.said("too_large"));
}

TEST(CounterReader, DoesNotCountASeriesAgainThatOnlyGotOtherLabels) {
  Bench bench;
  bench.begin(0, 240);
  bench.put(series("served_total"), {{15, 900}, {30, 910}});
  Labels relabelled = series("served_total");
  relabelled.set("cluster", "eu");
  bench.put(relabelled, {{45, 915}, {60, 920}});
  bench.put(series("up"), {{15, 1}, {30, 1}, {45, 1}, {60, 1}});
  bench.finish();
  EXPECT_EQ(bench.total_n(), 10 + 5);
  EXPECT_TRUE(bench.said("relabelled_series"));
}

TEST(CounterReader, BooksASampleOnTheEdgeIntoTheStepThatEndsThere) {
  Bench bench;
  bench.begin(0, 120);
  bench.put(series("served_total"), {{0, 1}, {60, 5}, {61, 6}});
  bench.finish();
  EXPECT_EQ(bench.last.batches.front().n[0], 4);
  EXPECT_EQ(bench.last.batches.front().n[1], 1);
}

TEST(CounterReader, CallsStepsWithoutAScrapeMissingAndQuietOnesComplete) {
  Bench bench;
  bench.begin(0, 240);
  bench.put(series("up"), {{15, 1}, {75, 0}, {135, 1}});
  bench.put(series("served_total"), {{15, 3}, {135, 3}});
  bench.finish();
  EXPECT_EQ(
      bench.last.batches.front().coverage,
      (std::vector{Coverage::complete, Coverage::missing, Coverage::complete, Coverage::missing}));
}

TEST(CounterReader, FailuresWhoseRequestsHaveNoSeriesAreAHundredPercent) {
  SignalPlan plan = plain_plan();
  plan.terms.front().counts_n = false;  // As in a signal of one's own: two separate counters.
  Bench bench(plan);
  bench.begin(0, 120);
  bench.put(series("up"), {{15, 1}, {30, 1}, {90, 1}});
  bench.put(series("failed_total", "a:1", "500"), {{30, 4}, {90, 4}});
  bench.put(series("failed_total", "a:1", "503"), {{30, 3}, {90, 3}});
  bench.put(series("served_total"), {{90, 5}});
  bench.finish();
  EXPECT_EQ(bench.total_k(), 7);
  EXPECT_EQ(bench.total_n(), 7 + 5);
}

TEST(CounterReader, DoesNotTakeAStaleMarkerForAScrape) {
  Bench bench;
  bench.begin(0, 180);
  bench.put(series("served_total"), {{15, 3}, {75, std::nan("")}, {165, 3}});
  bench.finish();
  EXPECT_EQ(bench.last.batches.front().coverage,
            (std::vector{Coverage::complete, Coverage::missing, Coverage::complete}));
}

TEST(CounterReader, ForgetsWhatWasAppendedAndNotFinished) {
  Bench bench;
  bench.begin(0, 120);
  bench.put(series("served_total"), {{15, 10}, {30, 12}});
  bench.begin(0, 120);  // The fetch failed half-way; the range is asked again.
  bench.put(series("served_total"), {{15, 10}, {30, 12}});
  bench.finish();
  EXPECT_EQ(bench.total_n(), 2);
}

TEST(CounterReader, CarriesANetDebtIntoTheNextStepSoThatTotalsStayExact) {
  SignalPlan plan = plain_plan();
  plan.terms.push_back({{"moved_total", {}}, -1, true, false, false, plan.terms.front().labels});
  Bench bench(plan);
  bench.begin(0, 180);
  bench.put(series("up"), {{15, 1}, {60, 1}, {120, 1}, {180, 1}});
  bench.put(series("moved_total"), {{15, 0}, {60, 4}, {120, 4}, {180, 4}});
  bench.put(series("served_total"), {{15, 0}, {60, 1}, {120, 10}, {180, 12}});
  bench.finish();
  EXPECT_EQ(Bench::sum(bench.last.batches.front().n), 12 - 4);
  for (const std::int64_t n : bench.last.batches.front().n) EXPECT_GE(n, 0);
}

Counts run_in_pieces(const CounterWorld& world, std::int64_t piece_ms, Counts& k, bool restart) {
  Counts n;
  auto reader = std::make_unique<CounterReader>(std::vector{plain_plan()});
  std::int64_t from = world.begin_ms;
  while (from < world.end_ms) {
    const std::int64_t to = from + piece_ms;
    reader->begin({from_unix_ms(from), from_unix_ms(to)});
    world.feed(*reader, from, to);
    const Fetch fetch = reader->finish();
    add_counts(*reader, fetch, n, k);
    if (restart) {  // The process ends; another one goes on from what was saved.
      Writer writer;
      reader->save(writer, true);
      std::vector<Labels> cells = reader->cells(0);
      reader = std::make_unique<CounterReader>(std::vector{plain_plan()});
      reader->seed_cells(0, cells);
      Reader bytes(writer.bytes());
      EXPECT_TRUE(reader->load(bytes));
    }
    from = to;
  }
  return n;
}

class CounterWorlds : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(CounterWorlds, GiveEveryObservableEventToItsMinuteExactly) {
  const CounterWorld world(GetParam(), {});
  Counts k;
  const Counts n = run_in_pieces(world, 60 * 60'000 * 4, k, false);
  EXPECT_EQ(n, world.expected_n);
  EXPECT_EQ(k, world.expected_k);
}

TEST_P(CounterWorlds, GiveTheSameMinuteByMinuteAndAcrossRestartsOfOurs) {
  const CounterWorld world(GetParam(), {});
  Counts k;
  const Counts n = run_in_pieces(world, 60'000, k, false);
  EXPECT_EQ(n, world.expected_n);
  EXPECT_EQ(k, world.expected_k);
  Counts k_restarted;
  EXPECT_EQ(run_in_pieces(world, 5 * 60'000, k_restarted, true), world.expected_n);
  EXPECT_EQ(k_restarted, world.expected_k);
}

TEST_P(CounterWorlds, NeverCountMoreThanHappenedWhereTheStartTimeIsNotExposed) {
  const CounterWorld world(GetParam(), {.exposes_start = false});
  Counts k;
  const Counts n = run_in_pieces(world, 5 * 60'000, k, false);
  for (const auto& [cell, count] : n) {
    const auto truth = world.expected_n.find(cell);
    ASSERT_NE(truth, world.expected_n.end()) << cell.first.to_string();
    EXPECT_LE(count, truth->second);
    EXPECT_GT(count, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, CounterWorlds, ::testing::Range<std::uint64_t>(1, 61));

}  // namespace
}  // namespace outcomed
