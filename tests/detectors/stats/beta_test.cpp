#include "detectors/stats/beta.h"

#include <gtest/gtest.h>

#include <cmath>

namespace outcomed {
namespace {

TEST(IncompleteBeta, HasItsClosedForms) {
  EXPECT_NEAR(incomplete_beta(1, 1, 0.3), 0.3, 1e-14);
  EXPECT_NEAR(incomplete_beta(1, 5, 0.2), 1 - std::pow(0.8, 5), 1e-14);
  EXPECT_NEAR(incomplete_beta(3, 1, 0.7), 0.343, 1e-14);
  EXPECT_NEAR(incomplete_beta(0.5, 0.5, 0.25), 2 / M_PI * std::asin(0.5), 1e-13);
}

TEST(IncompleteBeta, IsSymmetricAndCoversItsEnds) {
  EXPECT_NEAR(incomplete_beta(2.5, 90, 0.04), 1 - incomplete_beta(90, 2.5, 0.96), 1e-12);
  EXPECT_EQ(incomplete_beta(2, 3, -1), 0);
  EXPECT_EQ(incomplete_beta(2, 3, 0), 0);
  EXPECT_EQ(incomplete_beta(2, 3, 1), 1);
  EXPECT_EQ(incomplete_beta(2, 3, 7), 1);
}

TEST(BetaQuantile, InvertsTheDistribution) {
  for (const double q : {1e-6, 0.05, 0.5, 0.99, 0.999}) {
    for (const double s : {50.0, 9999.0, 1e6}) {
      const double x = beta_quantile(q, 0.01 * s, 0.99 * s);
      EXPECT_NEAR(incomplete_beta(0.01 * s, 0.99 * s, x), q, 1e-8) << q << " " << s;
    }
  }
  EXPECT_EQ(beta_quantile(0, 2, 3), 0);
  EXPECT_EQ(beta_quantile(1, 2, 3), 1);
}

}  // namespace
}  // namespace outcomed
