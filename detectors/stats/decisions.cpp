#include "detectors/stats/decisions.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "detectors/stats/binomial.h"
#include "detectors/stats/intervals.h"

namespace outcomed {

DecisionTable decision_table(const PairTable& table, double old_threshold, double new_threshold) {
  DecisionTable result;
  for (const PairCell& cell : table.cells) {
    const bool was = table.old_scores[cell.row] >= old_threshold;
    const bool is = table.new_scores[cell.column] >= new_threshold;
    WeightedCount& kind =
        was ? (is ? result.both : result.only_old) : (is ? result.only_new : result.neither);
    kind = kind + WeightedCount{cell.count, cell.mass(), cell.weight * cell.mass()};
  }
  return result;
}

ShareEstimate share_estimate(const WeightedCount& part, const WeightedCount& whole) {
  ShareEstimate estimate;
  if (whole.mass <= 0) return estimate;
  estimate.value = std::clamp(part.mass / whole.mass, 0.0, 1.0);
  estimate.effective_n = whole.mass * whole.mass / whole.squares;
  estimate.interval = wilson_interval(*estimate.value * estimate.effective_n, estimate.effective_n);
  return estimate;
}

namespace {

WeightedCount all(const DecisionTable& table) {
  return table.both + table.only_new + table.only_old + table.neither;
}

}  // namespace

ShareEstimate precision(const DecisionTable& table) {
  return share_estimate(table.both, table.both + table.only_new);
}

ShareEstimate recall(const DecisionTable& table) {
  return share_estimate(table.both, table.both + table.only_old);
}

ShareEstimate agreement(const DecisionTable& table) {
  return share_estimate(table.both + table.neither, all(table));
}

ShareEstimate old_share(const DecisionTable& table) {
  return share_estimate(table.both + table.only_old, all(table));
}

ShareEstimate new_share(const DecisionTable& table) {
  return share_estimate(table.both + table.only_new, all(table));
}

double mcnemar_exact(std::int64_t only_new, std::int64_t only_old) {
  const std::int64_t flips = only_new + only_old;
  const std::int64_t fewer = std::min(only_new, only_old);
  if (2 * fewer == flips) return 1;
  // The sum relative to its greatest term, C(flips, fewer), from there downwards.
  double sum = 0;
  double term = 1;
  for (std::int64_t i = fewer; i >= 0 && term > 1e-20 * sum; --i) {
    sum += term;
    term *= static_cast<double>(i) / static_cast<double>(flips - i + 1);
  }
  const auto log_factorial = [](std::int64_t n) { return log_gamma(static_cast<double>(n) + 1); };
  const double log_greatest = log_factorial(flips) - log_factorial(fewer) -
                              log_factorial(flips - fewer) -
                              static_cast<double>(flips) * std::log(2.0);
  return std::min(1.0, 2 * sum * std::exp(log_greatest));
}

std::optional<double> mcnemar(const DecisionTable& table, bool equal_weights) {
  if (equal_weights) {
    return mcnemar_exact(std::llround(table.only_new.items), std::llround(table.only_old.items));
  }
  const WeightedCount flips = table.only_new + table.only_old;
  if (flips.items < 10) return {};
  return normal_two_sided((table.only_new.mass - table.only_old.mass) / std::sqrt(flips.squares));
}

std::optional<double> auc(const PairTable& table, double old_threshold) {
  const auto size = static_cast<Eigen::Index>(table.new_scores.size());
  Eigen::ArrayXd passed = Eigen::ArrayXd::Zero(size);
  Eigen::ArrayXd failed = Eigen::ArrayXd::Zero(size);
  for (const PairCell& cell : table.cells) {
    (table.old_scores[cell.row] >= old_threshold ? passed : failed)[cell.column] += cell.mass();
  }
  if (passed.sum() <= 0 || failed.sum() <= 0) return {};
  double sum = 0;
  double below = 0;
  for (Eigen::Index i = 0; i < size; ++i) {
    sum += passed[i] * (below + failed[i] / 2);
    below += failed[i];
  }
  return sum / (passed.sum() * failed.sum());
}

}  // namespace outcomed
