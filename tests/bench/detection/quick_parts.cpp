// The promise of the budget, and what must or must not page.
#include <fmt/core.h>

#include <fstream>
#include <map>
#include <sstream>

#include "known_normal.h"
#include "parts.h"
#include "rows.h"
#include "rules.h"
#include "surge_watch.h"

namespace outcomed::bench {
namespace {

constexpr std::int64_t kBudget = 1000;  // Minutes.
constexpr int kLearn = 14 * kDay;

struct Rate {
  double quiet = 0;  // Minutes in which it did not page.
  int pages = 0;
};

void append(Problems& problems, const Problems& more) {
  problems.insert(problems.end(), more.begin(), more.end());
}

Problems judge(std::string_view what, const Rate& rate) {
  const double mean = rate.quiet / std::max(1, rate.pages);
  Row("mean_time")
      .add("what", what)
      .add("budget", double(kBudget))
      .add("minutes", rate.quiet)
      .add("pages", rate.pages)
      .add("mean", mean);
  if (mean >= double(kBudget)) return {};
  return {
      fmt::format("{}: a false page every {:.0f} minutes, the budget is {}", what, mean, kBudget)};
}

// The sums alone with a normal that is known, at the edge of what is promised: every minute fails
// with the highest share that counts as normal.
Problems known_normal(double minutes) {
  constexpr double kCeiling = 0.01;
  KnownNormal watch(kCeiling, double(kBudget));
  SeriesMaker maker({"iid", 20, kCeiling}, 4711);
  Rate rate;
  while (rate.quiet < minutes) {
    const Pages pages = watch_all(watch, maker.take(kDay));
    rate.quiet += pages.quiet_minutes;
    rate.pages += pages.count;
  }
  return judge("sums with a known normal, at its ceiling of 1 %", rate);
}

// The oracle's threshold is right: its mean time is the budget, within the noise of some 1000
// pages.
Problems oracle_is_calibrated() {
  OracleCusum oracle(0.01, 0.05, oracle_threshold(20, 0.01, 0.05, double(kBudget)));
  SeriesMaker maker({"iid", 20, 0.01}, 99);
  Rate rate;
  for (int day = 0; day < 700; ++day) {
    rate.pages += watch_all(oracle, maker.take(kDay)).count;
    rate.quiet += kDay;
  }
  const double mean = rate.quiet / std::max(1, rate.pages);
  Row("oracle_check").add("budget", double(kBudget)).add("pages", rate.pages).add("mean", mean);
  if (std::abs(mean / double(kBudget) - 1) < 0.15) return {};
  return {
      fmt::format("the oracle is not calibrated: mean time {:.0f} instead of {}", mean, kBudget)};
}

Problems learned_normal(const Traffic& traffic, double minutes) {
  SurgeWatch watch(surge_rule(kBudget));
  SeriesMaker maker(traffic, 815);
  watch_all(watch, maker.take(kLearn));
  Rate rate;
  while (rate.quiet < minutes) {
    const Pages pages = watch_all(watch, maker.take(10 * kDay));
    rate.quiet += pages.quiet_minutes;
    rate.pages += pages.count;
    if (pages.quiet_minutes == 0) break;
  }
  return judge(fmt::format("surge, {} {:g} %, {:g} requests a minute", traffic.baseline,
                           traffic.share * 100, traffic.rate),
               rate);
}

SurgeWatch learned(double rate) {
  SurgeWatch watch(surge_rule(90 * kDay));
  watch_all(watch, SeriesMaker({"iid", rate}, 31).take(kLearn));
  return watch;
}

struct Minute {
  std::int64_t n = 0;
  std::int64_t k = 0;
  Coverage coverage = Coverage::complete;
};

// Pages in ten days of normal traffic of which the last half-hour of every three comes as `spoil`
// makes it.
template <class Spoil>
Problems must_not_page(std::string_view what, double rate, const Spoil& spoil) {
  SurgeWatch watch = learned(rate);
  const Counts counts = SeriesMaker({"iid", rate}, 32).take(10 * kDay);
  int pages = 0;
  bool before = false;
  for (int i = 0; i < counts.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    Minute bucket{counts.n[at], counts.k[at], Coverage::complete};
    if (i % 180 >= 150) spoil(bucket, i % 180 - 150);
    const bool now = watch.minute(bucket.n, bucket.k, bucket.coverage);
    pages += now && !before ? 1 : 0;
    before = now;
  }
  Row("harmless").add("what", what).add("rate", rate).add("days", 10).add("pages", pages);
  if (pages == 0) return {};
  return {fmt::format("{} paged {} times", what, pages)};
}

}  // namespace

Problems false_page_times(double minutes, bool all) {
  Problems problems = known_normal(minutes);
  append(problems, oracle_is_calibrated());
  append(problems, learned_normal({"iid", 20, 0.01}, minutes));
  if (!all) return problems;
  append(problems, learned_normal({"iid", 1, 0.01}, minutes));
  append(problems, learned_normal({"iid", 100, 0.01}, minutes / 4));
  append(problems, learned_normal({"iid", 20, 0.02}, minutes));
  append(problems, learned_normal({"wobble_.3", 20, 0.01}, minutes / 4));
  append(problems, learned_normal({"wobble_.5", 20, 0.01}, minutes / 4));
  append(problems, learned_normal({"bursts", 20, 0.01}, minutes / 4));
  return problems;
}

Problems harmless() {
  Problems problems;
  for (const double rate : {1.0, 20.0}) {
    append(problems, must_not_page("half-hours without requests", rate,
                                   [](Minute& bucket, int) { bucket.n = bucket.k = 0; }));
    append(problems, must_not_page("half-hours that nobody scraped", rate, [](Minute& bucket, int) {
             bucket = {50, 50, Coverage::missing};
           }));
    append(problems, must_not_page("half-hours of partial counts", rate, [](Minute& bucket, int) {
             bucket = {1, 1, Coverage::partial};
           }));
    append(problems, must_not_page("restarts that lose a part of a minute", rate,
                                   [](Minute& bucket, int minute) {
                                     if (minute % 10 == 0) bucket.n /= 2, bucket.k /= 2;
                                   }));
    append(problems,
           must_not_page("counters that burst after a gap", rate, [&](Minute& bucket, int minute) {
             if (minute < 29) bucket = {0, 0, Coverage::missing};
             if (minute == 29) bucket.n *= 30, bucket.k *= 30;
           }));
  }
  // A model that never succeeds has no series of successes: n arrives short of k.
  SurgeWatch watch = learned(20);
  int minute = 1;
  while (!watch.minute(0, 20) && minute < 60) ++minute;
  Row("vanished_success").add("minutes", minute);
  if (minute > 10) {
    problems.push_back(fmt::format("a vanished success series was not found in 10 minutes"));
  }
  return problems;
}

Problems slow_ramp(int series) {
  std::vector<double> delays;
  std::vector<double> onsets;
  for (int m = 0; m < series; ++m) {
    SurgeWatch watch(surge_rule(90 * kDay));
    SeriesMaker maker({"iid", 20}, static_cast<std::uint64_t>(7000 + m));
    watch_all(watch, maker.take(kLearn));
    const Timestamp start = watch.now();
    const Pages pages = watch_to_page(watch, maker.ramp(360, 0.1));
    delays.push_back(pages.first < 0 ? INFINITY : double(pages.first + 1));
    if (pages.first >= 0)
      onsets.push_back(double((watch.onset() - start) / std::chrono::minutes(1)));
  }
  Row("ramp").add("rate", 20).add("series", series).add("delays", delays).add("onsets", onsets);
  return {};
}

// One request a minute, after 14 days at 1 %.
Problems real_requests(const std::string& data) {
  std::ifstream file(data + "/llmperf_requests.csv");
  if (!file) {
    fmt::print(stderr, "detection_bench: no llmperf_requests.csv in {}: S11 is left out\n", data);
    return {};
  }
  std::map<std::string, std::vector<bool>> failed;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::string endpoint, seq, code;
    for (std::string* cell : {&endpoint, &seq, &code}) std::getline(cells, *cell, ',');
    failed[endpoint].push_back(!code.empty());
  }
  Problems problems;
  std::map<std::string, int> found;
  for (const auto& [endpoint, requests] : failed) {
    Counts counts;
    int first = -1;
    int failures = 0;
    for (const bool bad : requests) {
      if (bad && first < 0) first = counts.size();
      failures += bad ? 1 : 0;
      counts.add(bad ? 0 : 1, bad ? 1 : 0);
    }
    SurgeWatch watch = learned(1);
    const Pages pages = watch_to_page(watch, counts);
    found[endpoint] = pages.first < 0 ? 0 : pages.first - first + 1;
    if (failures == 0 && pages.first < 0) continue;
    Row("real_requests")
        .add("endpoint", endpoint)
        .add("requests", counts.size())
        .add("failures", failures)
        .add("first_failure", first + 1)
        .add("requests_to_page", pages.first < 0 ? INFINITY : double(found[endpoint]));
    if (failures <= 2 && pages.first >= 0) {
      problems.push_back(fmt::format("S11: {} paged with {} failures", endpoint, failures));
    }
  }
  if (found["lepton_70b"] < 1 || found["lepton_70b"] > 10) {
    problems.push_back("S11: the refusals of lepton_70b were not found within 10 requests");
  }
  return problems;
}

}  // namespace outcomed::bench
