#include "detectors/stats/ranks.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

#include "detectors/stats/intervals.h"

namespace outcomed {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;

ArrayXd sums_below(const ArrayXd& values) {
  ArrayXd below(values.size());
  double sum = 0;
  for (Index i = 0; i < values.size(); ++i) {
    below[i] = sum;
    sum += values[i];
  }
  return below;
}

// One of the two scores: its marginal, its ranks and what leaving out an item needs.
struct RankSide {
  explicit RankSide(const std::vector<double>& masses)
      : mass(Eigen::Map<const ArrayXd>(masses.data(), static_cast<Index>(masses.size()))),
        below(sums_below(mass)),
        rank(below + mass / 2 - mass.sum() / 2),
        cross(ArrayXd::Zero(mass.size())),
        square((mass * rank.square()).sum()) {}

  void finish() {
    // sum_i X_i sign(p - i) = 2 (sum below p) + X_p - (sum of all); the two sums of all are 0.
    signed_moment = 2 * sums_below(mass * rank) + mass * rank;
    signed_cross = 2 * sums_below(cross) + cross;
  }
  [[nodiscard]] double square_without(Index p, double weight, double total) const {
    return square + weight * signed_moment[p] + weight * weight / 4 * (total - mass[p]) -
           weight * rank[p] * rank[p];
  }

  ArrayXd mass;
  ArrayXd below;  // Mass of the lower scores.
  ArrayXd rank;   // Centred mid-rank.
  ArrayXd cross;  // By score: sum of the other score's ranks.
  double square = 0;
  ArrayXd signed_moment;
  ArrayXd signed_cross;
};

// Sums of prefixes under additions, each in O(log size) (P. M. Fenwick 1994).
class PrefixSums {
 public:
  explicit PrefixSums(std::size_t size) : tree_(size + 1, 0.0) {}

  void add(std::size_t at, double value) {
    for (std::size_t i = at + 1; i < tree_.size(); i += i & (~i + 1)) tree_[i] += value;
  }
  [[nodiscard]] double below(std::size_t end) const {
    double sum = 0;
    for (std::size_t i = end; i > 0; i -= i & (~i + 1)) sum += tree_[i];
    return sum;
  }

 private:
  std::vector<double> tree_;
};

// Q of each cell: mass that agrees about the order minus mass that disagrees.
std::vector<double> order_balance(const PairTable& table, const RankSide& rows,
                                  const RankSide& columns) {
  const auto& cells = table.cells;
  const double total = rows.mass.sum();
  std::vector<double> balance(cells.size());
  PrefixSums lower_rows(table.new_scores.size());
  double lower_mass = 0;
  for (std::size_t begin = 0; begin < cells.size();) {
    const std::uint32_t row = cells[begin].row;
    std::size_t end = begin;
    double left = 0;  // Mass of this row in lower columns.
    while (end < cells.size() && cells[end].row == row) {
      const std::uint32_t column = cells[end].column;
      const std::size_t first = end;
      double own = 0;
      for (; end < cells.size() && cells[end].row == row && cells[end].column == column; ++end) {
        own += cells[end].mass();
      }
      const double low_low = lower_rows.below(column);
      const double low_high = lower_mass - lower_rows.below(column + 1);
      const double high_low = columns.below[column] - low_low - left;
      const double high_high = (total - columns.below[column] - columns.mass[column]) - low_high -
                               (rows.mass[row] - left - own);
      const double agree = low_low + high_high - low_high - high_low;
      for (std::size_t i = first; i < end; ++i) balance[i] = agree;
      left += own;
    }
    for (; begin < end; ++begin) lower_rows.add(cells[begin].column, cells[begin].mass());
    lower_mass += rows.mass[row];
  }
  return balance;
}

std::optional<double> tau_b(const PairTable& table, const RankSide& rows, const RankSide& columns,
                            const std::vector<double>& balance) {
  const double total = rows.mass.sum();
  const double untied =
      (total * total - rows.mass.square().sum()) * (total * total - columns.mass.square().sum());
  if (table.old_scores.size() < 2 || table.new_scores.size() < 2 || untied <= 0) return {};
  double agree = 0;
  for (std::size_t i = 0; i < balance.size(); ++i) agree += table.cells[i].mass() * balance[i];
  return std::clamp(agree / std::sqrt(untied), -1.0, 1.0);
}

std::optional<double> jackknife(const PairTable& table, const RankSide& rows,
                                const RankSide& columns, const std::vector<double>& balance,
                                double product) {
  const double total = rows.mass.sum();
  const double items = table.items();
  ArrayXd left_out(static_cast<Index>(table.cells.size()));
  ArrayXd counts(left_out.size());
  for (Index i = 0; i < left_out.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const PairCell& cell = table.cells[at];
    const auto p = static_cast<Index>(cell.row);
    const auto q = static_cast<Index>(cell.column);
    const double w = cell.weight;
    const double s = product + w / 2 * (rows.signed_cross[p] + columns.signed_cross[q]) +
                     w * w / 4 * balance[at] - w * rows.rank[p] * columns.rank[q];
    const double a = rows.square_without(p, w, total);
    const double b = columns.square_without(q, w, total);
    if (a <= 1e-12 * rows.square || b <= 1e-12 * columns.square) return {};
    left_out[i] = s / std::sqrt(a * b);
    counts[i] = cell.count;
  }
  const double mean = (counts * left_out).sum() / items;
  return std::sqrt((items - 1) / items * (counts * (left_out - mean).square()).sum());
}

}  // namespace

RankCorrelation rank_correlation(const PairTable& table) {
  RankCorrelation result;
  if (table.old_scores.size() < 2 || table.new_scores.size() < 2) return result;
  RankSide rows(table.old_masses());
  RankSide columns(table.new_masses());
  double product = 0;
  for (const PairCell& cell : table.cells) {
    rows.cross[cell.row] += cell.mass() * columns.rank[cell.column];
    columns.cross[cell.column] += cell.mass() * rows.rank[cell.row];
    product += cell.mass() * rows.rank[cell.row] * columns.rank[cell.column];
  }
  rows.finish();
  columns.finish();
  const std::vector<double> balance = order_balance(table, rows, columns);
  result.kendall_tau_b = tau_b(table, rows, columns, balance);
  const double r = std::clamp(product / std::sqrt(rows.square * columns.square), -1.0, 1.0);
  result.spearman = r;
  result.jackknife_error = jackknife(table, rows, columns, balance, product);
  const double scale = 1 - r * r;
  if (result.jackknife_error && scale > 1e-12) {
    const double reach = kNormal975 * *result.jackknife_error / scale;
    result.interval = Interval{std::tanh(std::atanh(r) - reach), std::tanh(std::atanh(r) + reach)};
  }
  return result;
}

}  // namespace outcomed
