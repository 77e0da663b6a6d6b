#include "detectors/stats/binomial.h"

#include <math.h>  // lgamma_r is POSIX, not in <cmath>'s namespace.

#include <algorithm>
#include <cmath>
#include <limits>

#include "detectors/stats/beta.h"

namespace outcomed {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double log_choose(double n, double k) {
  return log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1);
}

}  // namespace

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double log_beta(double a, double b) { return log_gamma(a) + log_gamma(b) - log_gamma(a + b); }

double binomial_log_pmf(std::int64_t k, std::int64_t n, double p) {
  if (k < 0 || k > n) return kNever;
  const auto all = static_cast<double>(n);
  const auto some = static_cast<double>(k);
  return log_choose(all, some) + some * std::log(p) + (all - some) * std::log1p(-p);
}

double beta_binomial_log_pmf(std::int64_t k, std::int64_t n, double p, double rho) {
  if (rho <= kNoCorrelation) return binomial_log_pmf(k, n, p);
  if (k < 0 || k > n) return kNever;
  const auto all = static_cast<double>(n);
  const auto some = static_cast<double>(k);
  const double s = 1 / rho - 1;
  const double a = p * s;
  const double b = (1 - p) * s;
  return log_choose(all, some) + log_beta(some + a, all - some + b) - log_beta(a, b);
}

Eigen::ArrayXd beta_binomial_log_pmf(std::int64_t n, double p, double rho) {
  Eigen::ArrayXd out(n + 1);
  out(0) = beta_binomial_log_pmf(0, n, p, rho);
  const auto all = static_cast<double>(n);
  const bool plain = rho <= kNoCorrelation;
  const double s = plain ? 0 : 1 / rho - 1;
  const double odds = p / (1 - p);
  for (std::int64_t i = 1; i <= n; ++i) {
    const auto k = static_cast<double>(i);
    // pmf(k) / pmf(k-1).
    const double tilt = plain ? odds : (k - 1 + p * s) / (all - k + (1 - p) * s);
    out(i) = out(i - 1) + std::log((all - k + 1) / k * tilt);
  }
  return out;
}

double beta_binomial_pmf(std::int64_t k, std::int64_t n, double p, double rho) {
  return std::exp(beta_binomial_log_pmf(k, n, p, rho));
}

double binomial_cdf(std::int64_t k, std::int64_t n, double p) {
  if (k < 0) return 0;
  if (k >= n) return 1;
  return incomplete_beta(double(n - k), double(k + 1), 1 - p);
}

double beta_binomial_cdf(std::int64_t k, std::int64_t n, double p, double rho) {
  if (rho <= kNoCorrelation) return binomial_cdf(k, n, p);
  if (k < 0) return 0;
  if (k >= n) return 1;
  double sum = 0;
  for (std::int64_t i = 0; i <= k; ++i) sum += beta_binomial_pmf(i, n, p, rho);
  return std::min(sum, 1.0);
}

double log_sum_exp(const Eigen::ArrayXd& x) {
  if (x.size() == 0) return kNever;
  const double top = x.maxCoeff();
  return std::isfinite(top) ? top + std::log((x - top).exp().sum()) : top;
}

}  // namespace outcomed
