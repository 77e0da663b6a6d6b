// What `surge` costs: a minute of one group, quiet, in an incident and latched; 30 days of many
// groups; a state saved and loaded. Counts are drawn before the clock starts.
//   ninja -C build/release surge_bench && build/release/tests/surge_bench
#include <benchmark/benchmark.h>

#include <random>

#include "detectors/surge/fold.h"

namespace outcomed {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Timestamp kMidnight = from_unix_ms(1'795'996'800'000);
constexpr int kDay = 1440;

struct Counts {
  std::vector<std::int64_t> n;
  std::vector<std::int64_t> k;
  std::vector<Coverage> coverage;

  Counts(std::uint64_t seed, int steps, double rate, double share)
      : coverage(static_cast<std::size_t>(steps), Coverage::complete) {
    std::mt19937_64 random(seed);
    std::poisson_distribution<std::int64_t> requests(rate);
    for (int i = 0; i < steps; ++i) {
      n.push_back(requests(random));
      k.push_back(n.back() > 0 ? std::binomial_distribution<std::int64_t>(n.back(), share)(random)
                               : 0);
    }
  }
  [[nodiscard]] BucketRun run(Timestamp start) const {
    return {start, minutes(1), n, k, coverage, {}};
  }
};

void advance_all(Fold& fold, const BucketRun& run) {
  for (std::size_t i = 0; i < run.size(); ++i) fold.advance(run, i);
}

// "ns_each": time for each of `items` things done in every iteration.
void report(benchmark::State& state, std::size_t items) {
  state.counters["ns_each"] =
      benchmark::Counter(double(items) * 1e-9, benchmark::Counter::kIsIterationInvariantRate |
                                                   benchmark::Counter::kInvert);
}

// A day of a group that has learned 14 days, its midnight included.
void quiet_minute(benchmark::State& state) {
  const auto rate = static_cast<double>(state.range(0));
  const SurgeDetector detector({}, {"requests", "failed", minutes(1)});
  const std::unique_ptr<Fold> fold = detector.start({});
  const Counts learned(1, 14 * kDay, rate, 0.01);
  advance_all(*fold, learned.run(kMidnight));
  const Counts day(2, kDay, rate, 0.01);
  Timestamp at = kMidnight + hours(14 * 24);
  for (auto _ : state) {
    advance_all(*fold, day.run(at));
    at += hours(24);
  }
  report(state, kDay);
}
BENCHMARK(quiet_minute)->ArgName("rate")->Arg(1)->Arg(5)->Arg(20)->Arg(100)->Arg(500);

// An incident from its first minute on: half of the requests fail, so nearly all of it is latched.
void incident_minute(benchmark::State& state) {
  const auto length = static_cast<int>(state.range(0));
  const SurgeDetector detector({}, {"requests", "failed", minutes(1)});
  const std::unique_ptr<Fold> learned = detector.start({});
  advance_all(*learned, Counts(1, 14 * kDay, 20, 0.01).run(kMidnight));
  Writer writer;
  learned->save(writer);
  const Counts bad(3, length, 20, 0.5);
  for (auto _ : state) {
    state.PauseTiming();
    const std::unique_ptr<Fold> fold = detector.start({});
    Reader reader(writer.bytes());
    if (!fold->load(reader)) state.SkipWithError("load");
    const Counts first(4, 10, 20, 0.01);  // Fills the tables.
    advance_all(*fold, first.run(kMidnight + hours(14 * 24)));
    state.ResumeTiming();
    advance_all(*fold, bad.run(kMidnight + hours(14 * 24) + minutes(10)));
  }
  report(state, static_cast<std::size_t>(length));
}
BENCHMARK(incident_minute)->ArgName("minutes")->Arg(60)->Arg(600);

// 30 days of many groups, all from nothing.
void month(benchmark::State& state) {
  const auto groups = static_cast<std::uint64_t>(state.range(0));
  const SurgeDetector detector({}, {"requests", "failed", minutes(1)});
  const Counts counts(7, 30 * kDay, 20, 0.01);
  for (auto _ : state) {
    for (std::uint64_t i = 0; i < groups; ++i) {
      const std::unique_ptr<Fold> fold = detector.start({});
      advance_all(*fold, counts.run(kMidnight));
      benchmark::DoNotOptimize(fold->breached());
    }
  }
  report(state, groups * 30 * kDay);
}
BENCHMARK(month)->ArgName("groups")->Arg(300)->Unit(benchmark::kSecond)->Iterations(1);

void save_and_load(benchmark::State& state) {
  const SurgeDetector detector({}, {"requests", "failed", minutes(1)});
  const std::unique_ptr<Fold> fold = detector.start({});
  advance_all(*fold, Counts(1, 15 * kDay, 20, 0.01).run(kMidnight));
  std::size_t bytes = 0;
  for (auto _ : state) {
    Writer writer;
    fold->save(writer);
    bytes = writer.bytes().size();
    const std::unique_ptr<Fold> other = detector.start({});
    Reader reader(writer.bytes());
    if (!other->load(reader)) state.SkipWithError("load");
  }
  state.counters["bytes"] = double(bytes);
}
BENCHMARK(save_and_load)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace outcomed

BENCHMARK_MAIN();
