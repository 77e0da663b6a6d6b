#include "detectors/stats/ceiling.h"

#include <gtest/gtest.h>

#include <random>

namespace outcomed {
namespace {

TEST(BlockMoments, AgreeWithTheReference) {
  Eigen::ArrayXd k(14);
  Eigen::ArrayXd n(14);
  k << 20, 23, 18, 25, 21, 19, 30, 12, 22, 24, 20, 26, 17, 23;
  n << 60, 61, 59, 64, 60, 58, 70, 52, 60, 66, 60, 63, 57, 62;
  const BlockMoments made = block_moments(k, n);
  EXPECT_NEAR(made.share, 0.352112676056338, 1e-12);
  EXPECT_NEAR(made.chi2, 8.573449067624367, 1e-9);
  EXPECT_NEAR(made.rho, -0.0056906156742030705, 1e-12);
  EXPECT_EQ(made.blocks, 14);
}

TEST(BlockMoments, OfNothingOrOfOneBlockAreHarmless) {
  EXPECT_EQ(block_moments(Eigen::ArrayXd(), Eigen::ArrayXd()).share, 0);
  const BlockMoments empty = block_moments(Eigen::ArrayXd::Zero(3), Eigen::ArrayXd::Zero(3));
  EXPECT_EQ(empty.share, 0);
  EXPECT_EQ(empty.blocks, 0);
  const BlockMoments one =
      block_moments(Eigen::ArrayXd::Constant(1, 2), Eigen::ArrayXd::Constant(1, 40));
  EXPECT_EQ(one.share, 0.05);
  EXPECT_EQ(one.rho, 0);
  const BlockMoments failed =
      block_moments(Eigen::ArrayXd::Constant(4, 40), Eigen::ArrayXd::Constant(4, 40));
  EXPECT_EQ(failed.share, 1);
  EXPECT_LE(failed.rho, 0);
}

TEST(BlockMoments, FindTheCorrelationThatMadeTheBlocks) {
  std::mt19937_64 random(3);
  std::gamma_distribution<> a(0.05 * 99);
  std::gamma_distribution<> b(0.95 * 99);
  Eigen::ArrayXd k(4000);
  const Eigen::ArrayXd n = Eigen::ArrayXd::Constant(4000, 300);
  for (Eigen::Index i = 0; i < k.size(); ++i) {
    const double x = a(random);
    k(i) = std::binomial_distribution<>(300, x / (x + b(random)))(random);
  }
  EXPECT_NEAR(block_moments(k, n).rho, 0.01, 0.001);
}

TEST(LearnedCeiling, IsTheQuantileOfTheBetaLaw) {
  // Beta(1, 99): 1 - (1 - x)^99.
  EXPECT_NEAR(learned_ceiling(0.01, 0.01, 0.99), 1 - std::pow(0.01, 1.0 / 98.01), 3e-4);
  EXPECT_GT(learned_ceiling(0.01, 0.01, 0.999), learned_ceiling(0.01, 0.01, 0.99));
  EXPECT_GT(learned_ceiling(0.01, 0.02, 0.99), learned_ceiling(0.01, 0.01, 0.99));
  EXPECT_NEAR(learned_ceiling(0.01, 1e-4, 0.99), 0.0125, 2e-4);
}

TEST(WobbleSums, AreTheSumsOverTheStepsThemselves) {
  const double n[] = {10, 0, 25, 7};
  const double k[] = {1, 0, 4, 0};
  const double p = 0.05;
  StepSums block;
  for (int i = 0; i < 4; ++i) block.add(n[i], k[i]);
  WobbleSums sums;
  sums.add(block, p);
  const double own = (5 + 20 * p) / (42 + 20);
  double above = 0;
  double below = 0;
  for (int i = 0; i < 4; ++i) {
    above += (k[i] - n[i] * own) * (k[i] - n[i] * own) - n[i] * own * (1 - own);
    below += n[i] * (n[i] - 1) * own * (1 - own);
  }
  EXPECT_NEAR(sums.rho(), above / below, 1e-12);
  EXPECT_EQ(WobbleSums{}.rho(), 0);
}

}  // namespace
}  // namespace outcomed
