#include "detectors/stats/distance.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace outcomed {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Counts = Eigen::Map<const ArrayXd>;

Status check(const Counts& points, const Counts& first, const Counts& second) {
  const auto bad = [](const char* what) { return Error{ErrorKind::invalid, what}; };
  if (points.size() == 0) return bad("a distribution needs a point");
  if (!points.isFinite().all()) return bad("the points must be finite");
  for (Index i = 1; i < points.size(); ++i) {
    if (points[i] <= points[i - 1]) return bad("the points must ascend without repeats");
  }
  for (const Counts& counts : {first, second}) {
    if (!counts.isFinite().all() || (counts < 0).any()) {
      return bad("counts must be finite and not negative");
    }
    if (counts.sum() <= 0) return bad("a distribution needs a count");
  }
  return ok();
}

// sum p log2(p / m), 0 log 0 being 0.
double divergence(const ArrayXd& p, const ArrayXd& m) {
  double sum = 0;
  for (Index i = 0; i < p.size(); ++i) {
    if (p[i] > 0) sum += p[i] * std::log2(p[i] / m[i]);
  }
  return sum;
}

double psi(const Counts& first, const Counts& second) {
  const double smoothing = 0.5 * static_cast<double>(first.size());
  const ArrayXd p = (first + 0.5) / (first.sum() + smoothing);
  const ArrayXd q = (second + 0.5) / (second.sum() + smoothing);
  return ((q - p) * (q / p).log()).sum();
}

}  // namespace

Result<DistributionDistance> distance_between(std::span<const double> points,
                                              std::span<const double> first,
                                              std::span<const double> second) {
  if (first.size() != points.size() || second.size() != points.size()) {
    return Error{ErrorKind::invalid, "points and counts must have one length"};
  }
  const auto size = static_cast<Index>(points.size());
  const Counts x(points.data(), size);
  const Counts a(first.data(), size);
  const Counts b(second.data(), size);
  if (Status status = check(x, a, b); !status) return std::move(status).error();
  const ArrayXd p = a / a.sum();
  const ArrayXd q = b / b.sum();
  DistributionDistance result;
  result.ks_cut = x[0];
  double gap = 0;  // F - G up to here.
  for (Index i = 0; i + 1 < size; ++i) {
    gap += p[i] - q[i];
    const double width = x[i + 1] - x[i];
    result.wasserstein += std::abs(gap) * width;
    result.energy += 2 * gap * gap * width;
    // Gaps that differ by rounding only are equal.
    if (std::abs(gap) > result.ks + 1e-12) {
      result.ks = std::abs(gap);
      result.ks_cut = x[i];
    }
  }
  result.psi = psi(a, b);
  const ArrayXd middle = (p + q) / 2;
  result.jensen_shannon =
      std::sqrt(std::max(0.0, (divergence(p, middle) + divergence(q, middle)) / 2));
  result.hellinger = std::sqrt(std::max(0.0, 1 - (p * q).sqrt().sum()));
  return result;
}

double psi_without_drift(std::size_t points, double n, double m) {
  return (static_cast<double>(points) - 1) * (1 / n + 1 / m);
}

}  // namespace outcomed
