// What 30 days of 300 groups cost through every kind that judges counts, from nothing: `surge`,
// `share` and `absorption` by the minute, `baseline` and `scores` by the day, which is how their
// signals come.
// (`price` sums what the rows of a database cost; reading those is what takes time there.) Counts
// are drawn before the clock starts. Run by tests/bench/run speed, beside the same work in SciPy.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

#include "detectors/absorption/absorption.h"
#include "detectors/baseline/baseline.h"
#include "detectors/scores/scores.h"
#include "detectors/share/share.h"
#include "detectors/surge/surge.h"

namespace outcomed {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Timestamp kMidnight = from_unix_ms(1'795'996'800'000);
constexpr int kGroups = 300;
constexpr int kDays = 30;
constexpr int kMinutes = kDays * 1440;

// k of n in each of `steps` steps, n Poisson.
struct Counts {
  std::vector<std::int64_t> n;
  std::vector<std::int64_t> k;

  Counts(std::uint64_t seed, int steps, double rate, double share) {
    std::mt19937_64 random(seed);
    std::poisson_distribution<std::int64_t> good(std::max(rate * (1 - share), 1e-9));
    std::poisson_distribution<std::int64_t> bad(rate * share);
    for (int i = 0; i < steps; ++i) {
      k.push_back(bad(random));
      n.push_back(good(random) + k.back());
    }
  }
  [[nodiscard]] MemberRun member() const { return {n, k}; }
};

std::vector<std::int64_t> sum_of(const std::vector<Counts>& parts,
                                 std::vector<std::int64_t> Counts::*side) {
  std::vector<std::int64_t> sum((parts.front().*side).size());
  for (const Counts& part : parts) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += (part.*side)[i];
  }
  return sum;
}

// A group of one member is fed without members, as the engine does.
void month(benchmark::State& state, const Detector& detector, Duration step,
           const std::vector<Counts>& parts, const std::vector<Labels>& members) {
  const std::vector<std::int64_t> n = sum_of(parts, &Counts::n);
  const std::vector<std::int64_t> k = sum_of(parts, &Counts::k);
  const std::vector<Coverage> coverage(n.size(), Coverage::complete);
  std::vector<MemberRun> runs;
  for (std::size_t i = 0; i < members.size(); ++i) runs.push_back(parts[i].member());
  const BucketRun run{kMidnight, step, n, k, coverage, runs};
  for (auto _ : state) {
    for (int group = 0; group < kGroups; ++group) {
      const std::unique_ptr<Fold> fold = detector.start({});
      for (const Labels& member : members) fold->add_member(member);
      for (std::size_t i = 0; i < run.size(); ++i) {
        fold->advance(run, i);
        benchmark::DoNotOptimize(fold->breached());
      }
    }
  }
  state.counters["ns_each"] = benchmark::Counter(
      double(kGroups) * double(run.size()) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void surge(benchmark::State& state) {
  month(state, SurgeDetector({}, {"requests", "failed", minutes(1)}), minutes(1),
        {Counts(7, kMinutes, 20, 0.01)}, {});
}

void share(benchmark::State& state) {
  ShareParams params;
  params.above = 0.1;
  month(state, ShareDetector(params, {"requests", "failed", minutes(1)}), minutes(1),
        {Counts(7, kMinutes, 20, 0.01)}, {});
}

void absorption(benchmark::State& state) {
  month(state, AbsorptionDetector({}, {"absorption", "failed", minutes(1)}), minutes(1),
        {Counts(7, kMinutes, 20, 0.01), Counts(8, kMinutes, 22, 0.05)},
        {{{"side", "consumer"}}, {{"side", "provider"}}});
}

void baseline(benchmark::State& state) {
  month(state, BaselineDetector({}, {"evaluations", "passed", hours(24)}), hours(24),
        {Counts(7, kDays, 200, 0.3)}, {});
}

void scores(benchmark::State& state) {
  std::vector<Counts> parts;
  std::vector<Labels> members;
  for (int score = 1; score <= 5; ++score) {
    parts.emplace_back(static_cast<std::uint64_t>(score), kDays, 40, 1);
    members.push_back({{"score", std::to_string(score)}});
  }
  month(state, ScoresDetector({}, {"scores", "passed", hours(24)}), hours(24), parts, members);
}

BENCHMARK(surge)->Unit(benchmark::kMillisecond);
BENCHMARK(share)->Unit(benchmark::kMillisecond);
BENCHMARK(absorption)->Unit(benchmark::kMillisecond);
BENCHMARK(baseline)->Unit(benchmark::kMillisecond);
BENCHMARK(scores)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace outcomed

BENCHMARK_MAIN();
