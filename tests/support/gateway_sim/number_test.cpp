#include "tests/support/gateway_sim/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace outcomed::sim {
namespace {

std::string printed(double value) {
  std::string out;
  append_number(out, value);
  return out;
}

TEST(Number, IsPrintedAsThePythonClientDoes) {
  EXPECT_EQ(printed(0), "0.0");
  EXPECT_EQ(printed(41), "41.0");
  EXPECT_EQ(printed(26.5), "26.5");
  EXPECT_EQ(printed(4.2e-07), "4.2e-07");
  EXPECT_EQ(printed(0.0001), "0.0001");
  EXPECT_EQ(printed(11.233431000000003), "11.233431000000003");
  EXPECT_EQ(printed(999999), "999999.0");
  EXPECT_EQ(printed(1000000), "1e+06");
  EXPECT_EQ(printed(2718281), "2.718281e+06");
  EXPECT_EQ(printed(310521856), "3.10521856e+08");
  EXPECT_EQ(printed(1796005697.76), "1.79600569776e+09");
  EXPECT_EQ(printed(12000000000.0), "1.2e+010");
  EXPECT_EQ(printed(9.223372036854776e+18), "9.223372036854776e+18");
  EXPECT_EQ(printed(-1500000), "-1500000.0");
  EXPECT_EQ(printed(std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_EQ(printed(NAN), "NaN");
}

}  // namespace
}  // namespace outcomed::sim
