#include "detectors/stats/distance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace outcomed {
namespace {

using Numbers = std::vector<double>;

TEST(Distance, OfEqualSharesIsNothingWhateverTheCounts) {
  const auto got = distance_between(Numbers{1, 2, 4}, Numbers{1, 2, 1}, Numbers{10, 20, 10});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->wasserstein, 0);
  EXPECT_EQ(got->ks, 0);
  EXPECT_EQ(got->energy, 0);
  EXPECT_NEAR(got->jensen_shannon, 0, 1e-8);
  EXPECT_NEAR(got->hellinger, 0, 1e-8);
  EXPECT_LT(got->psi, 0.05);  // Not 0: half a count is added to unlike sums.
}

TEST(Distance, OfAllItemsMovedByThreePointsIsThreePoints) {
  const auto got = distance_between(Numbers{2, 5}, Numbers{8, 0}, Numbers{0, 8});
  ASSERT_TRUE(got);
  EXPECT_DOUBLE_EQ(got->wasserstein, 3);
  EXPECT_DOUBLE_EQ(got->ks, 1);
  EXPECT_DOUBLE_EQ(got->ks_cut, 2);
  EXPECT_DOUBLE_EQ(got->energy, 6);
  EXPECT_DOUBLE_EQ(got->jensen_shannon, 1);
  EXPECT_DOUBLE_EQ(got->hellinger, 1);
  EXPECT_NEAR(got->psi, 2 * (8.0 / 9) * std::log(17.0), 1e-12);  // Shares 8.5/9 and 0.5/9.
}

TEST(Distance, FindsTheCutAndWeighsTheGapsByTheirWidth) {
  // F = .5 .75 1, G = .25 .25 1: gaps .25 over 1 point and .5 over 10 points.
  const auto got = distance_between(Numbers{0, 1, 11}, Numbers{2, 1, 1}, Numbers{1, 0, 3});
  ASSERT_TRUE(got);
  EXPECT_DOUBLE_EQ(got->wasserstein, .25 + 5);
  EXPECT_DOUBLE_EQ(got->energy, 2 * (.0625 + 2.5));
  EXPECT_DOUBLE_EQ(got->ks, .5);
  EXPECT_DOUBLE_EQ(got->ks_cut, 1);
}

TEST(Distance, OfOnePointIsNothing) {
  const auto got = distance_between(Numbers{5}, Numbers{3}, Numbers{4});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->wasserstein, 0);
  EXPECT_EQ(got->ks_cut, 5);
}

TEST(Distance, RefusesWhatIsNoPairOfDistributions) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(distance_between({}, {}, {}));
  EXPECT_FALSE(distance_between(Numbers{1, 2}, Numbers{1}, Numbers{1, 1}));
  EXPECT_FALSE(distance_between(Numbers{2, 1}, Numbers{1, 1}, Numbers{1, 1}));
  EXPECT_FALSE(distance_between(Numbers{1, 1}, Numbers{1, 1}, Numbers{1, 1}));
  EXPECT_FALSE(distance_between(Numbers{1, nan}, Numbers{1, 1}, Numbers{1, 1}));
  EXPECT_FALSE(distance_between(Numbers{1, 2}, Numbers{1, -1}, Numbers{1, 1}));
  EXPECT_FALSE(distance_between(Numbers{1, 2}, Numbers{1, nan}, Numbers{1, 1}));
  EXPECT_FALSE(distance_between(Numbers{1, 2}, Numbers{0, 0}, Numbers{1, 1}));
}

TEST(Distance, SaysWhatPsiIsWithoutDrift) {
  EXPECT_DOUBLE_EQ(psi_without_drift(11, 100, 2000), 10 * (.01 + .0005));
}

}  // namespace
}  // namespace outcomed
