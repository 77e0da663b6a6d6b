#include "detectors/stats/beta.h"

#include <cmath>

#include "detectors/stats/binomial.h"

namespace outcomed {
namespace {

constexpr double kTiny = 1e-300;
constexpr double kPrecise = 1e-15;

double away_from_zero(double x) { return std::abs(x) < kTiny ? kTiny : x; }

// Lentz's method; converges in O(sqrt(max(a, b))) terms for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  const auto most = static_cast<int>(200 + 20 * std::sqrt(a + b));
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double value = d;
  for (int i = 1; i <= most; ++i) {
    const double m = i;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    value *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    value *= d * c;
    if (std::abs(d * c - 1) < kPrecise) break;
  }
  return value;
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(a * std::log(x) + b * std::log1p(-x) - log_beta(a, b));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double beta_quantile(double q, double a, double b) {
  if (q <= 0) return 0;
  if (q >= 1) return 1;
  double low = 0;
  double high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (incomplete_beta(a, b, middle) < q ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace outcomed
