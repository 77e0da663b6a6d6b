// Binomial and beta-binomial laws, in log space.
//
// The beta-binomial BB(n, p, rho) is a binomial whose share is itself drawn, for each batch of n
// anew, from a beta law with mean p and intra-class correlation rho: a = p s, b = (1 - p) s,
// s = 1 / rho - 1. rho at or below kNoCorrelation means the plain binomial.
//   log pmf(k) = lgamma(n+1) - lgamma(k+1) - lgamma(n-k+1) + lB(k+a, n-k+b) - lB(a, b)
// (Skellam, J. R. Statist. Soc. B 10, 1948).
// Arguments: 0 < p < 1, 0 <= rho < 1, n >= 0. k outside 0…n has probability 0 (log: -infinity).
// Errors: none; the absolute error of a log grows with n, about 1e-16 · n log n (1e-9 at 1e6).
#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace outcomed {

inline constexpr double kNoCorrelation = 1e-9;

// log |Γ(x)|. std::lgamma writes a global (signgam) on glibc; this does not.
double log_gamma(double x);
// log B(a, b), a and b > 0.
double log_beta(double a, double b);

double binomial_log_pmf(std::int64_t k, std::int64_t n, double p);
double beta_binomial_log_pmf(std::int64_t k, std::int64_t n, double p, double rho);
// All of k = 0…n at once; size n + 1. One logarithm for each k instead of six log-gammas.
Eigen::ArrayXd beta_binomial_log_pmf(std::int64_t n, double p, double rho);

double beta_binomial_pmf(std::int64_t k, std::int64_t n, double p, double rho);
// P(K <= k). The binomial takes constant time (incomplete beta), the beta-binomial k + 1 terms.
double binomial_cdf(std::int64_t k, std::int64_t n, double p);
double beta_binomial_cdf(std::int64_t k, std::int64_t n, double p, double rho);

// log Σ e^x without overflow; -infinity for an empty array.
double log_sum_exp(const Eigen::ArrayXd& x);

}  // namespace outcomed
