#include "detectors/stats/ebh.h"

#include <gtest/gtest.h>

#include <limits>

namespace outcomed {
namespace {

TEST(EBh, RejectsTheFiveOfTheReference) {
  std::vector<double> e{60, 3000, 900, 0.01, 150, 2, 400, 1, 0.5, 0.1};
  const Discoveries made = e_bh(e, 0.05);
  EXPECT_EQ(made.count, 5U);
  EXPECT_EQ(made.threshold, 60);
}

TEST(EBh, LetsManyWeakOnesStandTogether) {
  std::vector<double> alone{120, 1, 1, 1};
  EXPECT_EQ(e_bh(alone, 0.02).count, 0U);  // Needs 200.
  std::vector<double> together{120, 110, 1, 1};
  EXPECT_EQ(e_bh(together, 0.02).count, 2U);  // Needs 100 each.
}

TEST(EBh, OfNothingRejectsNothing) {
  std::vector<double> none;
  EXPECT_EQ(e_bh(none, 0.05).count, 0U);
  std::vector<double> zeros(5, 0.0);
  EXPECT_EQ(e_bh(zeros, 0.05).count, 0U);
  std::vector<double> endless{std::numeric_limits<double>::infinity(), 0};
  EXPECT_EQ(e_bh(endless, 1e-9).count, 1U);
}

}  // namespace
}  // namespace outcomed
