// False pages and delays of `surge` on made series whose normal differs from what its models
// assume. For each null and repetition: 14 days to learn from, then 120 more to count false pages
// in, and from the state after the 14 days nine changes (three shares, three seeds) two days later.
// The nulls are those of docs/rules/surge.md. Delays are in minutes, "-" for never.
//   ninja -C build/release surge_nulls && build/release/tests/surge_nulls [RATE [REPETITIONS
//     [MIN_SHARE [BUDGET_DAYS [NULL]]]]]
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <random>

#include "detectors/surge/fold.h"

namespace outcomed {
namespace {

using std::chrono::minutes;
using Random = std::mt19937_64;

constexpr Timestamp kMidnight = from_unix_ms(1'795'996'800'000);
constexpr int kDay = 1440;
constexpr int kLearn = 14 * kDay;
constexpr int kWatch = 120 * kDay;
constexpr int kCalm = 2 * kDay;
constexpr double kShares[] = {0.05, 0.2, 0.5};

struct Counts {
  std::vector<std::int64_t> n;
  std::vector<std::int64_t> k;

  void add(Random& random, double rate, double share, std::int64_t failing = 0) {
    const std::int64_t all = std::poisson_distribution<std::int64_t>(rate)(random);
    const std::int64_t bad =
        all > 0 ? std::binomial_distribution<std::int64_t>(all, share)(random) : 0;
    n.push_back(all + failing);
    k.push_back(bad + failing);
  }
  void append(const Counts& other) {
    n.insert(n.end(), other.n.begin(), other.n.end());
    k.insert(k.end(), other.k.begin(), other.k.end());
  }
};

// One minute of share and rate after the other.
class Null {
 public:
  Null(std::string_view name, double rate, std::uint64_t seed)
      : name_(name), rate_(rate), random_(seed) {}

  Counts take(int count) {
    Counts counts;
    for (int i = 0; i < count; ++i) minute(counts, i);
    return counts;
  }

 private:
  void minute(Counts& counts, int t) {
    double rate = rate_;
    std::int64_t failing = 0;
    if (name_ == "day_cycle") {
      share_ = 0.01 * (1 + 0.6 * std::sin(2 * M_PI * t / kDay));
      rate *= 1 + 0.7 * std::sin(2 * M_PI * t / kDay + 1);
    } else if (name_ == "wobble" || name_ == "wobble_bursts") {
      if (t % 60 == 0) {
        log_ = 0.8 * log_ + 0.6 * 0.5 * normal_(random_);
        share_ = std::min(0.95, 0.01 * std::exp(log_ - 0.125));
      }
      if (name_ == "wobble_bursts" && even_(random_) < 0.002) {
        failing = 2 + std::geometric_distribution<std::int64_t>(0.2)(random_);
      }
    } else if (name_ == "regimes") {
      if (t % 60 == 0 && even_(random_) < 0.05) high_ = !high_;
      share_ = high_ ? 0.02 : 0.006;
    } else if (name_ == "retries") {
      share_ = 0.008;
      if (even_(random_) < 0.004) left_ = std::max(left_, 1 + static_cast<int>(5 * even_(random_)));
      if (left_ > 0) failing = 3;
      left_ = std::max(0, left_ - 1);
    } else if (name_ == "t3_shocks" && t % 60 == 0) {
      log_ = 0.8 * log_ + 0.2 * std::student_t_distribution<>(3)(random_);
      share_ = std::min(0.3, 0.01 * std::exp(std::min(log_, 3.0)));
    }
    counts.add(random_, rate, share_, failing);
  }

  std::string_view name_;
  double rate_;
  Random random_;
  std::normal_distribution<> normal_;
  std::uniform_real_distribution<> even_;
  double share_ = 0.01;
  double log_ = 0;
  bool high_ = false;
  int left_ = 0;
};

struct Taken {
  int alarms = 0;
  int first = -1;  // Minute of the first alarm.
};

Taken feed(Fold& fold, Timestamp start, const Counts& counts, bool to_first = false) {
  const std::vector<Coverage> coverage(counts.n.size(), Coverage::complete);
  const BucketRun run{start, minutes(1), counts.n, counts.k, coverage, {}};
  Taken taken;
  for (std::size_t i = 0; i < run.size(); ++i) {
    const bool before = fold.breached();
    fold.advance(run, i);
    if (before || !fold.breached()) continue;
    if (taken.alarms++ == 0) taken.first = static_cast<int>(i);
    if (to_first) break;
  }
  return taken;
}

std::string middle(std::vector<double> values, double q) {
  if (values.empty()) return "?";
  std::sort(values.begin(), values.end());
  const double value = values[static_cast<std::size_t>(q * double(values.size() - 1))];
  return value > 1e8 ? "-" : fmt::format("{:g}", value);
}

// Minutes until the alarm after a change to `share`; nothing when there was one before it.
void delay(const SurgeDetector& detector, const std::string& learned, std::string_view null,
           double rate, double share, std::uint64_t seed, std::vector<double>& delays) {
  const std::unique_ptr<Fold> fold = detector.start({});
  Reader reader(learned);
  if (!fold->load(reader)) std::abort();
  Counts counts = Null(null, rate, 70 + seed).take(kCalm);
  Random random(31 + seed);
  for (int i = 0; i < (rate < 5 ? 4000 : 1500); ++i) counts.add(random, rate, share);
  const Taken taken = feed(*fold, kMidnight + minutes(kLearn), counts, true);
  if (taken.first < 0) delays.push_back(1e9);
  if (taken.first >= kCalm) delays.push_back(taken.first - kCalm + 1);
}

void measure(const SurgeDetector& detector, std::string_view null, double rate, int repetitions) {
  int learning = 0;
  int watching = 0;
  std::vector<double> delays[3];
  double fixed = 0;
  double moving = 0;
  double ceiling = 0;
  for (int m = 0; m < repetitions; ++m) {
    const auto seed = static_cast<std::uint64_t>(m);
    const std::unique_ptr<Fold> fold = detector.start({});
    learning += feed(*fold, kMidnight, Null(null, rate, 9000 + seed).take(kLearn)).alarms;
    Writer writer;
    fold->save(writer);
    const SurgeSeries& series = static_cast<const SurgeFold&>(*fold).series();
    fixed += series.gamma_static() / repetitions;
    moving += series.gamma_filter() / repetitions;
    ceiling += series.normal().ceiling / repetitions;
    const Counts more = Null(null, rate, 500 + seed).take(kWatch);
    watching += feed(*fold, kMidnight + minutes(kLearn), more).alarms;
    for (std::size_t i = 0; i < std::size(kShares); ++i) {
      for (std::uint64_t r = 0; r < 3; ++r) {
        delay(detector, writer.bytes(), null, rate, kShares[i], r + 97 * seed, delays[i]);
      }
    }
  }
  fmt::print(
      "| {} | {:.2f} | {:.2f} | {} ({}) | {} ({}) | {} ({}) | {:.2f} / {:.2f} | {:.1f} % |\n", null,
      double(watching) / repetitions / (double(kWatch) / kDay / 30), double(learning) / repetitions,
      middle(delays[0], 0.5), middle(delays[0], 0.95), middle(delays[1], 0.5),
      middle(delays[1], 0.95), middle(delays[2], 0.5), middle(delays[2], 0.95), moving, fixed,
      ceiling * 100);
  std::fflush(stdout);
}

}  // namespace
}  // namespace outcomed

int main(int argc, char** argv) {
  const auto number = [&](int i, double usual) { return argc > i ? std::atof(argv[i]) : usual; };
  const double rate = number(1, 20);
  const int repetitions = static_cast<int>(number(2, 10));
  outcomed::SurgeParams params;
  params.min_share = number(3, outcomed::SurgeParams::kUsualFloor);
  params.false_page_every =
      std::chrono::minutes(static_cast<std::int64_t>(std::lround(number(4, 90) * 1440)));
  const std::string_view only = argc > 5 ? argv[5] : "";
  const outcomed::SurgeDetector detector(params, {"requests", "failed", std::chrono::minutes(1)});
  fmt::print(
      "| null | false pages a month | in the first 14 days | 5 % (95th) | 20 % | 50 % | "
      "weight filter / static | ceiling |\n|---|---|---|---|---|---|---|---|\n");
  for (const std::string_view null :
       {"iid", "day_cycle", "wobble", "wobble_bursts", "regimes", "retries", "t3_shocks"}) {
    if (only.empty() || only == null) outcomed::measure(detector, null, rate, repetitions);
  }
}
