// False alarms and days to detection of the rule kinds that judge days, on simulated feeds. Seeded:
// the same tables on every machine with this standard library. Makes the tables of
// docs/rules/baseline.md.
//   baseline_bench [runs-in-percent]
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "detectors/baseline/day_rule.h"

namespace outcomed {
namespace {

struct Feed {
  double n = 0;      // Items a day, on average (Poisson).
  double share = 0;  // That passes.
  double rho = 0;    // Correlation of the items of one day.
  double dip = 0;    // Part by which the share is lower on two days of seven.
};

DayCount made_day(std::mt19937_64& random, const Feed& feed, std::int64_t day, double factor) {
  double share = feed.share * factor;
  if (day % 7 >= 5) share *= 1 - feed.dip;
  if (feed.rho > 0) {
    const double s = 1 / feed.rho - 1;
    const double a = std::gamma_distribution<double>(share * s)(random);
    const double b = std::gamma_distribution<double>((1 - share) * s)(random);
    share = a / (a + b);
  }
  const auto n = std::poisson_distribution<std::int64_t>(feed.n)(random);
  return {day, n, n > 0 ? std::binomial_distribution<std::int64_t>(n, share)(random) : 0};
}

// Alarms less than eight days apart are one.
class Episodes {
 public:
  void add(std::int64_t day) {
    if (count_ == 0 || day - last_ > 7) ++count_;
    last_ = day;
  }
  int count() const { return count_; }

 private:
  int count_ = 0;
  std::int64_t last_ = 0;
};

struct FalseAlarms {
  double halving = 0;   // The rule without a guard.
  double guarded = 0;   // Alerts that began by the guarded halving rule,
  double evidence = 0;  // and by evidence alone.
};

FalseAlarms false_alarms(const BaselineDetector& detector, const Feed& feed, int years) {
  FalseAlarms sum;
  for (int year = 0; year < years; ++year) {
    std::mt19937_64 random(static_cast<std::uint64_t>(100 + year));
    DayRule rule(detector);
    Episodes halving;
    bool was_on = false;
    for (std::int64_t day = 0; day < 28 + 365; ++day) {
      const DayCount today = made_day(random, feed, day, 1);
      if (today.n == 0) continue;
      const DayFinding finding = rule.judge(today, 0);
      if (day >= 28 && finding.beyond[0]) halving.add(day);
      if (day >= 28 && !was_on && rule.in_episode())
        ++(finding.halved ? sum.guarded : sum.evidence);
      was_on = rule.in_episode();
    }
    sum.halving += halving.count();
  }
  return {sum.halving / years, sum.guarded / years, sum.evidence / years};
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct Delay {
  double ours = 0;
  double halving = 0;
};

// Days from the change to the alert, the first bad day being 1; infinite after 60.
Delay delay(const BaselineDetector& detector, const Feed& feed, double factor, int runs) {
  std::vector<double> ours;
  std::vector<double> halving;
  for (int run = 0; run < runs; ++run) {
    std::mt19937_64 random(static_cast<std::uint64_t>(9000 + run));
    DayRule rule(detector);
    double first = INFINITY;
    double first_halving = INFINITY;
    for (std::int64_t day = 0; day < 42 + 60; ++day) {
      const DayCount today = made_day(random, feed, day, day >= 42 ? factor : 1);
      if (today.n == 0) continue;
      const DayFinding finding = rule.judge(today, 0);
      if (day < 42) continue;
      const auto days = static_cast<double>(day - 41);
      if (rule.in_episode()) first = std::min(first, days);
      if (finding.beyond[0]) first_halving = std::min(first_halving, days);
    }
    ours.push_back(first);
    halving.push_back(first_halving);
  }
  return {median(ours), median(halving)};
}

std::string days_text(double days) {
  return std::isinf(days) ? "never" : fmt::format("{:.0f}", days);
}

int run(double effort) {
  const BaselineDetector detector({}, {"items", "passed", std::chrono::hours(24), nullptr});
  fmt::print(
      "| n/day | share | rho | halving rule alone | alert: halved | alert: evidence | x 0.7 | x "
      "0.5 | x 0.3 | x 1.5 |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
  const std::vector<std::pair<double, double>> shapes = {{0, 0}, {0.01, 0}, {0.03, 0}, {0.01, 0.2}};
  const std::vector<std::pair<double, double>> feeds = {
      {10, .3}, {20, .1}, {20, .3},  {20, .7},  {40, .1},  {40, .3},   {40, .7}, {80, .1},
      {80, .3}, {80, .7}, {200, .1}, {200, .3}, {200, .7}, {200, .95}, {668, .3}};
  for (const auto& [rho, dip] : shapes) {
    for (const auto& [n, share] : feeds) {
      const Feed feed{n, share, rho, dip};
      const double scale = effort * (n <= 80 ? 1 : n <= 200 ? 0.6 : 0.4);
      const FalseAlarms wrong = false_alarms(detector, feed, std::max(4, int(100 * scale)));
      fmt::print("| {:.0f} | {} | {}{} | {:.2f} | {:.2f} | {:.2f} |", n, share, rho,
                 dip > 0 ? " + weekend dip 20 %" : "", wrong.halving, wrong.guarded,
                 wrong.evidence);
      for (const double factor : {0.7, 0.5, 0.3, 1.5}) {
        if (share * factor >= 1) {
          fmt::print(" - |");
          continue;
        }
        const Delay days = delay(detector, feed, factor, std::max(7, int(50 * scale)));
        fmt::print(" {} ({}) |", days_text(days.ours), days_text(days.halving));
      }
      fmt::print("\n");
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace
}  // namespace outcomed

int main(int argc, char** argv) { return outcomed::run(argc > 1 ? std::atof(argv[1]) / 100 : 1); }
