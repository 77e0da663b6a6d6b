// The filter of the present rate.
#include "detectors/surge/rate_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "detectors/stats/binomial.h"

namespace outcomed {
namespace {

// Σ_k q(k) / null(k) · null(k) = 1 for every alternative: the null is a probability law.
TEST(RateFilter, ItsNullSumsToOne) {
  const double alternatives[] = {2, 3.5, 6, 12, 25, 60};
  for (const std::int64_t n : {1, 2, 3, 20, 60, 170}) {
    for (std::size_t j = 0; j < 6; ++j) {
      const double q = std::min(0.95, alternatives[j] * 0.01);
      double sum = 0;
      for (std::int64_t k = 0; k <= n; ++k) {
        RateFilter filter;
        filter.set(0.01, 0.5, 0.8, 60);
        filter.pass(5);
        const RateFilter::Evidence x = filter.observe(double(n), double(k));
        sum += std::exp(binomial_log_pmf(k, n, q) - x(static_cast<Eigen::Index>(j)));
      }
      EXPECT_NEAR(sum, 1, 1e-4) << n << " " << q;
    }
  }
}

TEST(RateFilter, GetsUsedToASlowRise) {
  RateFilter filter;
  filter.set(0.01, 0.5, 0.8, 60);
  std::mt19937_64 random(6);
  double late = 0;
  double early = 0;
  for (int i = 0; i < 600; ++i) {
    filter.pass(i);
    const double k = double(std::binomial_distribution<>(20, 0.02)(random));
    const double x = filter.observe(20, k)(0);
    (i < 30 ? early : late) += x;
  }
  EXPECT_GT(early, 0);
  EXPECT_LT(late / 570, early / 30);
}

TEST(RateFilter, KeepsWhatItKnowsWhenItsModelChanges) {
  RateFilter filter;
  filter.set(0.01, 0.5, 0.8, 60);
  for (int i = 0; i < 300; ++i) {
    filter.pass(i);
    filter.observe(100, 3);
  }
  RateFilter same = filter;
  same.set(0.0105, 0.52, 0.75, 60);
  RateFilter fresh;
  fresh.set(0.0105, 0.52, 0.75, 60);
  const double used = filter.observe(100, 8)(1);
  EXPECT_NEAR(same.observe(100, 8)(1), used, 0.5);
  EXPECT_GT(std::abs(fresh.observe(100, 8)(1) - used), 0.5);
}

}  // namespace
}  // namespace outcomed
