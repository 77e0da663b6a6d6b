#include "detectors/stats/intervals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace outcomed {
namespace {

using Numbers = std::vector<double>;

TEST(StudentQuantile, IsThatOfScipy) {
  EXPECT_NEAR(student_t_quantile(.975, 1), 12.706204736174694, 1e-10);
  EXPECT_NEAR(student_t_quantile(.975, 2.5), 3.5746548420036817, 1e-10);
  EXPECT_NEAR(student_t_quantile(.975, 10), 2.228138851986274, 1e-11);
  EXPECT_NEAR(student_t_quantile(.975, 222), 1.9707073953203922, 1e-11);
  EXPECT_NEAR(student_t_quantile(.975, 667), 1.9635269659683627, 1e-11);
  EXPECT_NEAR(student_t_quantile(.975, 1e5), 1.9599877075346095, 1e-9);
  EXPECT_NEAR(student_t_quantile(.9, 3), 1.637744353696209, 1e-11);
  EXPECT_NEAR(student_t_quantile(.025, 7), -2.3646242515927844, 1e-11);
  EXPECT_EQ(student_t_quantile(.5, 3), 0);
}

TEST(NormalChance, IsFivePercentAtTheUsualLine) {
  EXPECT_NEAR(normal_two_sided(kNormal975), .05, 1e-15);
  EXPECT_EQ(normal_two_sided(-2), normal_two_sided(2));
  EXPECT_EQ(normal_two_sided(0), 1);
}

TEST(WilsonInterval, IsThatOfScipy) {
  const auto expect = [](double k, double n, double low, double high) {
    EXPECT_NEAR(wilson_interval(k, n).low, low, 1e-12) << k << "/" << n;
    EXPECT_NEAR(wilson_interval(k, n).high, high, 1e-12) << k << "/" << n;
  };
  expect(75, 407, 0.1496211641955479, 0.22483339855060383);
  expect(3, 10, 0.10779126740630102, 0.6032218525388546);
  expect(0, 20, 0, 0.16112515805281935);
  expect(20, 20, 0.8388748419471808, 1);
  expect(0, 0, 0, 1);
}

TEST(ConfidenceSequence, HasTheReferenceValues) {
  const auto expect = [](double k, double n, double low, double high) {
    EXPECT_NEAR(beta_confidence_sequence(k, n).low, low, 1e-9) << k << "/" << n;
    EXPECT_NEAR(beta_confidence_sequence(k, n).high, high, 1e-9) << k << "/" << n;
  };
  expect(0, 20, 0, 0.22400611201272344);
  expect(3, 20, 0.013269321691111963, 0.4752530970767665);
  expect(30, 200, 0.07761511851626302, 0.24924573018663038);
  expect(5, 668, 0.0008457008339682602, 0.026455538836411194);
}

TEST(ConfidenceSequence, OfNothingIsEverythingAndOfAllReachesOne) {
  EXPECT_EQ(beta_confidence_sequence(0, 0).low, 0);
  EXPECT_EQ(beta_confidence_sequence(0, 0).high, 1);
  const Interval all = beta_confidence_sequence(20, 20);
  EXPECT_EQ(all.high, 1);
  EXPECT_NEAR(all.low, 1 - 0.22400611201272344, 1e-9);
}

TEST(ConfidenceSequence, HoldsAtAllTimesAtOnce) {
  std::mt19937_64 random(4);
  int ever_missed = 0;
  constexpr int kRuns = 400;
  for (int run = 0; run < kRuns; ++run) {
    int k = 0;
    bool missed = false;
    for (int n = 1; n <= 400 && !missed; ++n) {
      k += random() % 10 < 3;
      const Interval interval = beta_confidence_sequence(k, n);
      missed = .3 < interval.low || .3 > interval.high;
    }
    ever_missed += missed;
  }
  EXPECT_LE(ever_missed, .05 * kRuns);
}

TEST(MeanEstimate, OfEqualWeightsIsTheTextbooks) {
  // 2 4 4 6: mean 4, s = sqrt(8/3), t(3) = 3.182446.
  const auto got = mean_estimate(Numbers{2, 4, 6}, Numbers{1, 1, 1}, Numbers{1, 2, 1});
  ASSERT_TRUE(got);
  EXPECT_DOUBLE_EQ(got->mean, 4);
  EXPECT_NEAR(got->deviation, std::sqrt(8.0 / 3), 1e-14);
  EXPECT_NEAR(got->interval.value().high, 4 + 3.1824463052837086 * std::sqrt(8.0 / 3 / 4), 1e-10);
  EXPECT_DOUBLE_EQ(got->effective_n, 4);
  // What all weigh doesn't matter.
  const auto heavy = mean_estimate(Numbers{2, 4, 6}, Numbers{5, 5, 5}, Numbers{1, 2, 1});
  EXPECT_NEAR(heavy->interval.value().high, got->interval.value().high, 1e-12);
}

TEST(MeanEstimate, NeedsTwoValuesForAnInterval) {
  EXPECT_FALSE(mean_estimate({}, {}, {}));
  EXPECT_FALSE(mean_estimate(Numbers{1}, Numbers{1, 2}, Numbers{1}));
  const auto one = mean_estimate(Numbers{7}, Numbers{1}, Numbers{1});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->mean, 7);
  EXPECT_FALSE(one->interval);
  const auto constant = mean_estimate(Numbers{7}, Numbers{1}, Numbers{9});
  EXPECT_EQ(constant->interval.value().low, 7);
  EXPECT_EQ(constant->interval.value().high, 7);
}

// Strata sampled alike although one holds nine tenths of the stream: the weighted interval must
// hold the stream's mean as often as it says.
TEST(MeanEstimate, OfWeightedValuesHoldsTheTruthAsOftenAsPromised) {
  std::mt19937_64 random(9);
  std::normal_distribution<double> noise(0, 1);
  const double truth = .9 * 0 + .1 * 5;
  int held = 0;
  constexpr int kRuns = 2000;
  for (int run = 0; run < kRuns; ++run) {
    Numbers values;
    Numbers weights;
    for (int i = 0; i < 120; ++i) {
      const bool rare = random() % 2 == 0;
      values.push_back((rare ? 5 : 0) + noise(random));
      weights.push_back(rare ? .2 : 1.8);
    }
    const auto got = mean_estimate(values, weights, Numbers(values.size(), 1));
    held += got->interval->low <= truth && truth <= got->interval->high;
    ASSERT_LT(got->effective_n, 100);
  }
  EXPECT_GE(held, .93 * kRuns);
  EXPECT_LE(held, .97 * kRuns);
}

}  // namespace
}  // namespace outcomed
