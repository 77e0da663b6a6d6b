#include "detectors/stats/binomial.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace outcomed {
namespace {

// Expected values: scipy.stats.betabinom and binom.
TEST(BetaBinomial, HasThePublishedProbabilities) {
  EXPECT_NEAR(beta_binomial_log_pmf(5, 40, 0.3, 0.02), -3.918422880927473, 1e-9);
  EXPECT_NEAR(beta_binomial_cdf(5, 40, 0.3, 0.02), 0.03636624622912203, 1e-9);
  EXPECT_NEAR(beta_binomial_cdf(5, 40, 0.3, 0), 0.008618053311374194, 1e-9);
  EXPECT_NEAR(binomial_cdf(5, 40, 0.3), 0.008618053311374194, 1e-9);
}

TEST(BetaBinomial, SumsToOne) {
  for (const double rho : {0.0, 0.002, 0.1, 0.5}) {
    for (const std::int64_t n : {0, 1, 2, 50, 700}) {
      const Eigen::ArrayXd all = beta_binomial_log_pmf(n, 0.03, rho);
      ASSERT_EQ(all.size(), n + 1);
      EXPECT_NEAR(log_sum_exp(all), 0, 1e-9) << n << " " << rho;
      EXPECT_NEAR(all(n), beta_binomial_log_pmf(n, n, 0.03, rho), 1e-8) << n << " " << rho;
    }
  }
}

TEST(BetaBinomial, OutsideZeroToNIsImpossible) {
  EXPECT_EQ(beta_binomial_pmf(-1, 4, 0.3, 0.1), 0);
  EXPECT_EQ(beta_binomial_pmf(5, 4, 0.3, 0.1), 0);
  EXPECT_EQ(beta_binomial_pmf(5, 4, 0.3, 0), 0);
  EXPECT_EQ(beta_binomial_cdf(-1, 4, 0.3, 0.1), 0);
  EXPECT_EQ(beta_binomial_cdf(9, 4, 0.3, 0.1), 1);
  EXPECT_EQ(binomial_cdf(-1, 4, 0.3), 0);
  EXPECT_EQ(binomial_cdf(4, 4, 0.3), 1);
}

TEST(Binomial, CdfOfMillionsAgreesWithTheNormalLaw) {
  // The median of a binomial lies within 1 of n p; skewness moves it by less than 1e-3 here.
  EXPECT_NEAR(binomial_cdf(500'000, 1'000'000, 0.5), 0.5, 1e-3);
  EXPECT_NEAR(binomial_cdf(500'980, 1'000'000, 0.5), 0.975, 1e-4);
}

TEST(Binomial, CdfIsTheSumOfItsProbabilities) {
  double sum = 0;
  for (int k = 0; k <= 60; ++k) {
    sum += std::exp(binomial_log_pmf(k, 60, 0.07));
    EXPECT_NEAR(binomial_cdf(k, 60, 0.07), sum, 1e-12) << k;
  }
}

TEST(LogSumExp, NeitherOverflowsNorInventsSomething) {
  EXPECT_NEAR(log_sum_exp(Eigen::ArrayXd::Constant(4, 5000)), 5000 + std::log(4), 1e-9);
  EXPECT_EQ(log_sum_exp(Eigen::ArrayXd()), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(log_sum_exp(Eigen::ArrayXd::Constant(2, -std::numeric_limits<double>::infinity())),
            -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace outcomed
