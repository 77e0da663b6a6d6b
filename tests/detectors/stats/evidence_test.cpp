#include "detectors/stats/evidence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "detectors/stats/tilt.h"

namespace outcomed {
namespace {

struct Step {
  std::int64_t k, n;
  double log_sr, log_cusum;
};

void follow(double rho, double cap, const std::vector<Step>& steps) {
  const double alternatives[] = {0.03, 0.1, 0.4};
  EvidenceMixture mixture(3);
  std::int64_t at = 0;
  for (const Step& step : steps) {
    ++at;
    if (step.n > 0) {
      double x[3];
      for (int j = 0; j < 3; ++j) {
        x[j] = tilt(step.n, 0.01, alternatives[j], rho).log_evidence(double(step.k));
      }
      mixture.push(x, cap, at);
    }
    EXPECT_NEAR(mixture.log_sr(), step.log_sr, 1e-9) << at;
    EXPECT_NEAR(mixture.log_cusum(), step.log_cusum, 1e-9) << at;
  }
}

TEST(EvidenceMixture, FollowsTheReferenceWithoutCorrelation) {
  follow(0, 1e9,
         {{0, 20, -1.3049611268233416, -1.3049611268233416},
          {1, 18, 0.6611290275466163, 0.3140803354704629},
          {0, 25, 0.007276709821878935, -0.7231343155050505},
          {3, 20, 4.734576998561766, 4.360941235532749},
          {5, 22, 14.405791768769868, 14.147850717676562},
          {0, 0, 14.405791768769868, 14.147850717676562},
          {8, 21, 34.513931013062724, 34.430067972629985},
          {9, 20, 62.15336503954818, 62.07842187935524}});
}

TEST(EvidenceMixture, FollowsTheReferenceWithCorrelationAndCap) {
  follow(0.01, 5,
         {{0, 20, -1.0020509656205154, -1.0020509656205154},
          {1, 18, 0.6476644111627011, 0.2323129405932733},
          {0, 25, 0.27095861257595255, -0.5063737069133952},
          {3, 20, 3.6521243409575783, 2.947348409497717},
          {5, 22, 8.428668608233787, 7.791556573976624},
          {0, 0, 8.428668608233787, 7.791556573976624},
          {8, 21, 13.428887096585651, 12.791556573976624},
          {9, 20, 18.428888568586686, 17.791556573976624}});
}

TEST(EvidenceMixture, KnowsWhereTheLargestCusumBegan) {
  EvidenceMixture mixture(2);
  EXPECT_EQ(mixture.onset(), -1);
  mixture.push(std::vector<double>{-1, -2}, 9, 10);
  mixture.push(std::vector<double>{1, 0.5}, 9, 11);
  mixture.push(std::vector<double>{1, 0.5}, 9, 12);
  EXPECT_EQ(mixture.onset(), 11);
  mixture.push(std::vector<double>{-5, 3}, 9, 13);
  EXPECT_EQ(mixture.onset(), 11);
  mixture.push(std::vector<double>{4, -9}, 9, 14);
  EXPECT_EQ(mixture.onset(), 14);
}

TEST(EvidenceMixture, RefusesAnotherNumberOfComponents) {
  EvidenceMixture two(2);
  two.push(std::vector<double>{1, 2, 3}, 9, 1);
  EXPECT_EQ(two.log_sr(), -std::numeric_limits<double>::infinity());
  Writer writer;
  EvidenceMixture(3).save(writer);
  Reader reader(writer.bytes());
  EXPECT_FALSE(two.load(reader));
}

TEST(EvidenceMixture, ComesBackBitForBit) {
  EvidenceMixture one(3);
  for (int i = 0; i < 50; ++i) {
    one.push(std::vector<double>{std::sin(i), std::cos(i * 1.7), std::sin(i * 0.3) - 0.1}, 0.8, i);
  }
  Writer writer;
  one.save(writer);
  EvidenceMixture other(3);
  Reader reader(writer.bytes());
  ASSERT_TRUE(other.load(reader));
  for (EvidenceMixture* each : {&one, &other}) each->push(std::vector<double>{0.3, -2, 0.2}, 9, 60);
  EXPECT_EQ(one.log_sr(), other.log_sr());
  EXPECT_EQ(one.log_cusum(), other.log_cusum());
  EXPECT_EQ(one.onset(), other.onset());
}

TEST(ShiryaevRoberts, IsTheSumItPromises) {
  // (1 + M) e^x in plain numbers.
  double log_m = -std::numeric_limits<double>::infinity();
  double m = 0;
  for (const double x : {0.3, -2.0, 1.5, 0.0}) {
    log_m = shiryaev_roberts(log_m, x);
    m = (1 + m) * std::exp(x);
    EXPECT_NEAR(std::exp(log_m), m, 1e-12);
  }
  EXPECT_EQ(shiryaev_roberts(2000, 1), 2001);
}

}  // namespace
}  // namespace outcomed
