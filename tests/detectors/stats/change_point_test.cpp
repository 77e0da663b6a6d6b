#include "detectors/stats/change_point.h"

#include <gtest/gtest.h>

#include <array>

namespace outcomed {
namespace {

// Steps oldest first, as people write them; {n, k}.
template <std::size_t N>
std::size_t change_in(const std::array<std::array<double, 2>, N>& steps, ChangeSide side) {
  double n = 0;
  double k = 0;
  for (const auto& step : steps) {
    n += step[0];
    k += step[1];
  }
  ChangePoint change(n, k, side);
  for (std::size_t back = 0; back < N; ++back) {
    change.step(back, steps[N - 1 - back][0], steps[N - 1 - back][1]);
  }
  return change.back();
}

TEST(ChangePoint, LiesWhereTheShareRose) {
  const std::array<std::array<double, 2>, 6> steps = {
      {{100, 1}, {100, 0}, {100, 2}, {100, 40}, {100, 35}, {100, 50}}};
  EXPECT_EQ(change_in(steps, ChangeSide::rise), 2U);
}

TEST(ChangePoint, LiesWhereTheShareFell) {
  const std::array<std::array<double, 2>, 4> steps = {{{50, 45}, {50, 44}, {50, 10}, {50, 9}}};
  EXPECT_EQ(change_in(steps, ChangeSide::fall), 1U);
}

TEST(ChangePoint, IsNoRiseWhereTheShareFell) {
  const std::array<std::array<double, 2>, 3> steps = {{{50, 45}, {50, 10}, {50, 9}}};
  EXPECT_EQ(change_in(steps, ChangeSide::rise), 2U) << "all of it is one level";
}

TEST(ChangePoint, IsNotAtAStepWithoutRequests) {
  const std::array<std::array<double, 2>, 4> steps = {{{100, 1}, {100, 1}, {0, 0}, {100, 60}}};
  EXPECT_EQ(change_in(steps, ChangeSide::rise), 0U);
}

TEST(ChangePoint, OfNothingIsTheNewestStep) {
  const std::array<std::array<double, 2>, 2> steps = {{{0, 0}, {0, 0}}};
  EXPECT_EQ(change_in(steps, ChangeSide::rise), 0U);
}

}  // namespace
}  // namespace outcomed
