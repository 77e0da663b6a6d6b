// S1-S4: cells of baseline and rate.
#include <fmt/core.h>

#include <fstream>
#include <limits>
#include <map>
#include <numeric>

#include "known_normal.h"
#include "parts.h"
#include "rows.h"
#include "rules.h"
#include "surge_watch.h"

namespace outcomed::bench {
namespace {

constexpr int kLearn = 14 * kDay;
constexpr int kWatch = 30 * kDay;
constexpr int kCalm = 2 * kDay;
constexpr int kPatience = 14 * kDay;  // A change that isn't found by then never is.
constexpr double kShares[] = {0.02, 0.03, 0.05, 0.1, 0.2, 0.5};
constexpr std::int64_t kQuarter = 90 * kDay;
constexpr std::int64_t kQuarterCentury = 9125LL * kDay;

struct Named {
  std::string name;
  std::unique_ptr<Watch> watch;
  double only = 0;  // The share that it knows; 0: it is run on all.
};

// Each as it is before its first minute.
std::vector<Named> detectors(const Traffic& traffic) {
  std::vector<Named> all;
  all.push_back({"surge 90d", std::make_unique<SurgeWatch>(surge_rule(kQuarter))});
  all.push_back({"surge 25y", std::make_unique<SurgeWatch>(surge_rule(kQuarterCentury))});
  if (traffic.baseline == "iid") {
    all.push_back(
        {"surge 90d, min_share 0.5%", std::make_unique<SurgeWatch>(surge_rule(kQuarter, 0.005))});
    // For the peers that can't be set to rarer false alarms.
    if (traffic.rate == 1) {
      all.push_back({"surge 1000 minutes", std::make_unique<SurgeWatch>(surge_rule(1000))});
    }
  }
  all.push_back({"classic", std::make_unique<ClassicRule>()});
  all.push_back({"burn rate", std::make_unique<BurnRateRule>()});
  all.push_back({"grafana bands", std::make_unique<GrafanaBands>()});
  if (traffic.baseline != "iid") return all;
  for (const auto& [name, minutes] :
       {std::pair{"oracle 90d", kQuarter}, std::pair{"oracle 25y", kQuarterCentury}}) {
    for (const double share : kShares) {
      const double h = oracle_threshold(traffic.rate, traffic.share, share, double(minutes));
      all.push_back({name, std::make_unique<OracleCusum>(traffic.share, share, h), share});
    }
  }
  return all;
}

// Arrays for programs in other languages: pairs of little-endian 32-bit numbers, n and k.
void dump(const std::string& path, const Counts& counts) {
  std::ofstream file(path, std::ios::binary);
  for (int i = 0; i < counts.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    for (const std::int64_t value : {counts.n[at], counts.k[at]}) {
      for (int shift = 0; shift < 32; shift += 8) file.put(char((value >> shift) & 0xff));
    }
  }
}

struct Cell {
  Traffic traffic;
  std::vector<double> volumes;
  std::string dump;
  std::string name;

  [[nodiscard]] Counts taken(SeriesMaker& maker, int minutes, double share,
                             const std::string& what) const {
    Counts counts = share > 0 ? maker.take(minutes, share) : maker.take(minutes);
    if (!dump.empty()) bench::dump(fmt::format("{}/{}.{}", dump, name, what), counts);
    return counts;
  }
};

struct Results {
  std::vector<int> pages;
  std::vector<int> learning_pages;
  std::vector<std::map<double, std::vector<double>>> delays;
  double shortest = std::numeric_limits<double>::infinity();
};

bool concerned(const Named& named, double share) { return named.only == 0 || named.only == share; }

void change(const Cell& cell, const SeriesMaker& calm, const std::vector<Named>& watches,
            const std::vector<bool>& paging, int m, int repetition, Results& results) {
  for (const double share : kShares) {
    SeriesMaker maker = calm.continued(static_cast<std::uint64_t>(
        1'000'000 + m * 1000 + repetition * 10 + int(share * 100) * 100'000));
    const Counts counts =
        cell.taken(maker, kPatience, share, fmt::format("change.{}.{}.{}", m, repetition, share));
    for (std::size_t i = 0; i < watches.size(); ++i) {
      // One that pages already would be quick by luck.
      if (paging[i] || !concerned(watches[i], share)) continue;
      const Pages pages = watch_to_page(*watches[i].watch->copy(), counts);
      results.delays[i][share].push_back(pages.first < 0 ? INFINITY : double(pages.first + 1));
    }
  }
}

void run_series(const Cell& cell, const std::vector<Named>& fresh, const Effort& effort, int m,
                Results& results) {
  std::vector<Named> watches;
  for (const Named& named : fresh) watches.push_back({named.name, named.watch->copy(), named.only});
  results.pages.resize(watches.size());
  results.learning_pages.resize(watches.size());
  results.delays.resize(watches.size());
  SeriesMaker maker(cell.traffic, static_cast<std::uint64_t>(9000 + m), cell.volumes);
  const Counts learned = cell.taken(maker, kLearn, 0, fmt::format("learn.{}", m));
  for (std::size_t i = 0; i < watches.size(); ++i) {
    results.learning_pages[i] += watch_all(*watches[i].watch, learned).count;
  }
  SeriesMaker calm = maker;
  const Counts watched = cell.taken(maker, kWatch, 0, fmt::format("watch.{}", m));
  for (std::size_t i = 0; i < watches.size(); ++i) {
    const std::unique_ptr<Watch> copy = watches[i].watch->copy();
    results.pages[i] += watch_all(*copy, watched).count;
  }
  if (m >= effort.shifted) return;
  // The first two days of the watch, which the changes follow.
  const Counts two_days = calm.take(kCalm);  // As in `watched`.
  std::vector<bool> paging;
  for (Named& named : watches) {
    bool last = false;
    for (int i = 0; i < two_days.size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      last = named.watch->minute(two_days.n[at], two_days.k[at]);
    }
    paging.push_back(last);
  }
  for (int r = 0; r < effort.repetitions; ++r) change(cell, calm, watches, paging, m, r, results);
}

}  // namespace

Problems grid_cell(const std::string& baseline, double rate, const Effort& effort,
                   const std::string& data, const std::string& dump) {
  Cell cell{{baseline, rate}, {}, dump, fmt::format("{}.{}", baseline, rate)};
  if (baseline == "azure") cell.volumes = azure_volumes(data);
  if (baseline == "ragpulse") cell.volumes = ragpulse_volumes(data);
  if (cell.volumes.empty() && (baseline == "azure" || baseline == "ragpulse")) {
    fmt::print(stderr, "detection_bench: no arrivals of {} in {}: left out\n", baseline, data);
    return {};
  }
  const std::vector<Named> watches = detectors(cell.traffic);
  Results results;
  for (int m = 0; m < effort.series; ++m) run_series(cell, watches, effort, m, results);
  for (std::size_t i = 0; i < watches.size(); ++i) {
    if (results.delays[i].empty()) continue;
    for (const auto& [share, delays] : results.delays[i]) {
      Row("grid")
          .add("baseline", baseline)
          .add("rate", rate)
          .add("detector", watches[i].name)
          .add("series_months", effort.series)
          .add("false_pages", results.pages[i])
          .add("pages_while_learning", results.learning_pages[i])
          .add("share", share)
          .add("delays", delays);
    }
  }
  return {};
}

// A few changes at 20 requests a minute: the mean delay against that of the oracle on the same
// arrays.
Problems quick_cell() {
  const Cell cell{{"iid", 20}, {}, "", ""};
  const std::vector<Named> watches = detectors(cell.traffic);
  Results results;
  for (int m = 0; m < 2; ++m) run_series(cell, watches, {2, 2, 6}, m, results);
  std::map<std::string, double> means;
  for (std::size_t i = 0; i < watches.size(); ++i) {
    const std::vector<double>& delays = results.delays[i][0.1];
    if (delays.empty()) continue;
    const double mean = std::accumulate(delays.begin(), delays.end(), 0.0) / double(delays.size());
    means[watches[i].name] = mean;
    Row("quick_cell").add("detector", watches[i].name).add("share", 0.1).add("delays", delays);
  }
  Problems problems;
  for (const char* rule : {"classic", "burn rate"}) {
    if (means["surge 90d"] < means[rule]) continue;
    problems.push_back(fmt::format("S1: the {} rule is faster at 1 to 10 %", rule));
  }
  return problems;
}

namespace {

constexpr double kNormal = 0.01;

// How many times the budget the mean time between false pages of the sums really is.
double slack(double rate, double minutes) {
  constexpr double kSmall = 5000;
  KnownNormal watch(kNormal, kSmall);
  SeriesMaker maker({"iid", rate, kNormal}, 1917);
  int pages = 0;
  double watched = 0;
  for (; watched < minutes; watched += kDay) pages += watch_all(watch, maker.take(kDay)).count;
  return watched / std::max(1, pages) / kSmall;
}

void row_against_oracle(double rate, double budget, double share, double slack, int changes) {
  const double h = oracle_threshold(rate, kNormal, share, budget);
  double sums[4] = {};
  for (int i = 0; i < changes; ++i) {
    SeriesMaker maker({"iid", rate, kNormal}, static_cast<std::uint64_t>(20'000 + i));
    const Counts calm = maker.take(kDay / 4);
    // Long enough: no delay is near it.
    const Counts changed = maker.take(int(200 + 8000 / rate / (share / 0.03)), share);
    KnownNormal known(kNormal, budget);
    KnownNormal without_cap(kNormal, budget, 1e-6);
    OracleCusum oracle(kNormal, share, h);
    OracleCusum same_time(kNormal, share, h + std::log(slack));
    Watch* const watches[] = {&known, &without_cap, &oracle, &same_time};
    for (std::size_t w = 0; w < std::size(watches); ++w) {
      watch_all(*watches[w], calm);
      sums[w] += watch_to_page(*watches[w], changed).first + 1;
    }
  }
  const double divergence =
      share * std::log(share / kNormal) + (1 - share) * std::log((1 - share) / (1 - kNormal));
  Row("against_oracle")
      .add("rate", rate)
      .add("budget_days", budget / kDay)
      .add("share", share)
      .add("changes", changes)
      .add("slack", slack)
      .add("mean", sums[0] / changes)
      .add("without_cap", sums[1] / changes)
      .add("oracle", sums[2] / changes)
      .add("oracle_same_time", sums[3] / changes)
      .add("bound", std::log(budget) / rate / divergence);
}

}  // namespace

Problems against_oracle(const std::vector<double>& rates, int changes) {
  for (const double rate : rates) {
    const double real = slack(rate, 4e6);
    for (const std::int64_t budget : {kQuarter, kQuarterCentury}) {
      for (const double share : {0.03, 0.05, 0.1, 0.2, 0.5}) {
        row_against_oracle(rate, double(budget), share, real, changes);
      }
    }
  }
  return {};
}

Problems many_series(int series) {
  int pages = 0;
  int learning = 0;
  for (int m = 0; m < series; ++m) {
    SeriesMaker maker({"iid", 20}, static_cast<std::uint64_t>(500'000 + m));
    SurgeWatch watch(surge_rule(kQuarterCentury));
    learning += watch_all(watch, maker.take(kLearn)).count;
    pages += watch_all(watch, maker.take(kWatch)).count;
  }
  Row("many_series")
      .add("series", series)
      .add("false_pages", pages)
      .add("pages_while_learning", learning);
  if (pages <= series / 300.0) return {};
  return {
      fmt::format("{} false pages of {} series in 30 days at a budget of 25 years: more than one "
                  "a month for 300 series",
                  pages, series)};
}

}  // namespace outcomed::bench
