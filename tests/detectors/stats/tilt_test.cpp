#include "detectors/stats/tilt.h"

#include <gtest/gtest.h>

#include <cmath>

#include "detectors/stats/binomial.h"

namespace outcomed {
namespace {

// Made by an independent implementation (bisection over log-gamma sums).
TEST(Tilt, AgreesWithTheReference) {
  struct Case {
    std::int64_t n;
    double p0, p1, rho, theta, log_mgf, at_expected;
  };
  const Case cases[] = {
      {1, 0.01, 0.1, 0.0, 2.3978952727983707, 0.09531017980432493, -0.09531017980432493},
      {20, 0.01, 0.1, 0.0, 2.3978952727983707, 1.9062035960864987, 2.8895869495102424},
      {20, 0.01, 0.1, 0.01, 1.524121369967451, 1.0657780950703013, 1.9824646448646006},
      {100, 0.01, 0.1, 0.01, 0.6728061613270441, 2.1068182817913774, 4.6212433314790635},
      {500, 0.01, 0.1, 0.01, 0.18617349556020477, 2.7719804589448236, 6.536694319065414},
      {20, 0.02, 0.2, 0.1, 0.5350755172467844, 0.7453620160437487, 1.3949400529433889},
      {60, 0.3, 0.15, 0.02, -0.46012604068002483, -5.951482218483713, 1.8103478523634902},
      {668, 0.3, 0.15, 0.01, -0.14529374042986729, -20.64455910014754, 6.1151850571608115},
  };
  for (const Case& c : cases) {
    const Tilt made = tilt(c.n, c.p0, c.p1, c.rho);
    EXPECT_NEAR(made.theta, c.theta, 1e-9) << c.n;
    EXPECT_NEAR(made.log_mgf, c.log_mgf, 1e-9) << c.n;
    EXPECT_NEAR(made.log_evidence(std::nearbyint(double(c.n) * c.p1)), c.at_expected, 1e-8) << c.n;
    EXPECT_NEAR(made.log_evidence(0), -c.log_mgf, 1e-9) << c.n;
  }
}

double expectation(const Tilt& tilt, std::int64_t n, double p, double rho) {
  double sum = 0;
  for (std::int64_t k = 0; k <= n; ++k) {
    sum += std::exp(beta_binomial_log_pmf(k, n, p, rho) + tilt.log_evidence(double(k)));
  }
  return sum;
}

TEST(Tilt, IsAtMostOneInTheMeanUnderEverythingNormal) {
  for (const std::int64_t n : {1, 3, 20, 150, 700}) {
    for (const double rho : {0.0, 0.002, 0.05, 0.3}) {
      for (const double p0 : {0.005, 0.05, 0.5}) {
        for (const double p1 : rise_alternatives(p0)) {
          const Tilt made = tilt(n, p0, p1, rho);
          EXPECT_NEAR(expectation(made, n, p0, rho), 1, 1e-7) << n << " " << rho << " " << p1;
          EXPECT_LE(expectation(made, n, p0, rho / 2), 1 + 1e-9);
          EXPECT_LE(expectation(made, n, p0, 0), 1 + 1e-9);
          EXPECT_LE(expectation(made, n, p0 / 2, rho), 1 + 1e-9);
        }
      }
    }
  }
}

TEST(Tilt, OfADropIsAtMostOneInTheMeanAboveTheFloor) {
  const Tilt made = tilt(60, 0.3, 0.15, 0.02);
  EXPECT_LT(made.theta, 0);
  EXPECT_NEAR(expectation(made, 60, 0.3, 0.02), 1, 1e-9);
  EXPECT_LE(expectation(made, 60, 0.4, 0.02), 1);
  EXPECT_LE(expectation(made, 60, 0.3, 0.005), 1);
}

TEST(Tilt, OfAnEmptyStepIsNoEvidence) {
  EXPECT_EQ(tilt(0, 0.01, 0.1, 0.01).log_evidence(0), 0);
  TiltTable table(0.01, 0.01, rise_alternatives(0.01));
  EXPECT_EQ(table.at(0).theta[2], 0);
  EXPECT_EQ(table.at(0).log_mgf[2], 0);
  EXPECT_EQ(tilt(20, 0.1, 0.1, 0.01).log_evidence(20), 0);
}

TEST(TiltTable, DoesNotDependOnWhatWasAskedBefore) {
  const std::vector<double> alternatives = rise_alternatives(0.0123);
  TiltTable up(0.0123, 0.004, alternatives);
  TiltTable down(0.0123, 0.004, alternatives);
  std::vector<TiltTable::Row> rows;
  for (std::int64_t n = 0; n <= 120; ++n) rows.push_back(up.at(n));
  for (std::int64_t n = 120; n >= 0; --n) {
    for (std::size_t j = 0; j < alternatives.size(); ++j) {
      EXPECT_EQ(down.at(n).theta[j], rows[static_cast<std::size_t>(n)].theta[j]);
      EXPECT_EQ(down.at(n).log_mgf[j], rows[static_cast<std::size_t>(n)].log_mgf[j]);
    }
  }
}

TEST(TiltTable, AgreesWithTheSingleTilt) {
  const std::vector<double> alternatives = rise_alternatives(0.02);
  TiltTable table(0.02, 0.01, alternatives);
  for (const std::int64_t n : {1, 2, 33, 700}) {
    const TiltTable::Row row = table.at(n);
    for (std::size_t j = 0; j < alternatives.size(); ++j) {
      const Tilt single = tilt(n, 0.02, alternatives[j], 0.01);
      EXPECT_EQ(row.theta[j], single.theta);
      EXPECT_EQ(row.log_mgf[j], single.log_mgf);
    }
  }
}

TEST(TiltTable, ScalesHugeStepsDown) {
  EXPECT_EQ(TiltTable::scaled(700, 3).n, 700);
  EXPECT_EQ(TiltTable::scaled(1400, 3).n, 700);
  EXPECT_EQ(TiltTable::scaled(1400, 4).k, 2);
  const auto huge = TiltTable::scaled(INT64_MAX, INT64_MAX);
  EXPECT_EQ(huge.n, 700);
  EXPECT_EQ(huge.k, 700);
}

TEST(Alternatives, StartAboveTheCeilingAndRise) {
  for (const double p0 : {0.005, 0.05, 0.3, 0.5, 0.79, 0.8, 0.95, 0.999}) {
    double before = p0;
    for (const double p : rise_alternatives(p0)) {
      EXPECT_GT(p, before) << p0;
      EXPECT_LT(p, 1) << p0;
      before = p;
    }
  }
  EXPECT_NEAR(rise_alternatives(0.01).front(), 0.02, 1e-12);
  EXPECT_NEAR(rise_alternatives(0.01).back(), 0.9, 1e-12);
}

}  // namespace
}  // namespace outcomed
