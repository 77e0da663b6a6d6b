#include "detectors/stats/intervals.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "detectors/stats/beta.h"
#include "detectors/stats/binomial.h"

namespace outcomed {
namespace {

// P(|T| > t) for Student's law = I_x(d/2, 1/2) with x = d / (d + t²); from the side that is small.
double student_two_sided(double t, double degrees) {
  const double x = degrees / (degrees + t * t);
  const double rest = t * t / (degrees + t * t);  // 1 - x without cancellation.
  return rest < x ? 1 - incomplete_beta(0.5, degrees / 2, rest)
                  : incomplete_beta(degrees / 2, 0.5, x);
}

// Where a function that changes sign once between low and high does so.
template <class Function>
double bisect(double low, double high, Function negative) {
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) break;
    (negative(middle) ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

double normal_two_sided(double z) { return std::erfc(std::abs(z) / std::numbers::sqrt2); }

double student_t_quantile(double probability, double degrees) {
  if (probability == 0.5) return 0;
  if (probability < 0.5) return -student_t_quantile(1 - probability, degrees);
  const double outside = 2 * (1 - probability);
  double high = 2;
  while (student_two_sided(high, degrees) > outside && high < 1e150) high *= 2;
  return bisect(0, high, [&](double t) { return student_two_sided(t, degrees) > outside; });
}

Interval wilson_interval(double successes, double trials) {
  if (trials <= 0) return {};
  constexpr double z = kNormal975;
  const double p = std::clamp(successes / trials, 0.0, 1.0);
  const double scale = 1 + z * z / trials;
  const double centre = p + z * z / (2 * trials);
  const double reach = z * std::sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials));
  return {std::clamp((centre - reach) / scale, 0.0, p),
          std::clamp((centre + reach) / scale, p, 1.0)};
}

Interval beta_confidence_sequence(double successes, double trials, double alpha) {
  if (trials <= 0) return {};
  const double failures = trials - successes;
  const double constant =
      log_beta(0.5 + successes, 0.5 + failures) - log_beta(0.5, 0.5) + std::log(alpha);
  const auto outside = [&](double p) {
    double likelihood = 0;
    if (successes > 0) likelihood += successes * std::log(p);
    if (failures > 0) likelihood += failures * std::log1p(-p);
    return constant - likelihood >= 0;
  };
  const double best = successes / trials;
  Interval interval;
  if (successes > 0) interval.low = bisect(0, best, outside);
  if (failures > 0) interval.high = bisect(best, 1, [&](double p) { return !outside(p); });
  return interval;
}

std::optional<MeanEstimate> mean_estimate(std::span<const double> values,
                                          std::span<const double> weights,
                                          std::span<const double> counts) {
  using Map = Eigen::Map<const Eigen::ArrayXd>;
  const auto size = static_cast<Eigen::Index>(values.size());
  if (size == 0 || weights.size() != values.size() || counts.size() != values.size()) return {};
  const Map x(values.data(), size);
  const Map w(weights.data(), size);
  const Map c(counts.data(), size);
  const double n = c.sum();
  const double mass = (c * w).sum();
  const double squares = (c * w.square()).sum();
  MeanEstimate estimate;
  estimate.mean = (c * w * x).sum() / mass;
  estimate.effective_n = mass * mass / squares;
  if (n < 2) return estimate;
  const auto spread = (x - estimate.mean).square();
  estimate.deviation = std::sqrt((c * w * spread).sum() / mass * n / (n - 1));
  if (estimate.effective_n <= 1) return estimate;
  const double error = std::sqrt(n / (n - 1) * (c * w.square() * spread).sum()) / mass;
  const double reach = student_t_quantile(0.975, estimate.effective_n - 1) * error;
  estimate.interval = Interval{estimate.mean - reach, estimate.mean + reach};
  return estimate;
}

}  // namespace outcomed
