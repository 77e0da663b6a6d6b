// A filter of a series' present failure rate: a grid over its logarithm. The predictive law of a
// step is the null that breathes with the series: an hour's rhythm is then normal, no evidence.
//
// Model: about once in an hour the log rate x jumps by a mean-reverting step (to N(memory x,
// sigma^2 (1 - memory^2)); 0.3 % of the jumps twice as wide), else it stays. Of the n requests of a
// step k fail, binomially at the rate; with probability 0.003 a burst (1 + Geom(0.2) requests of
// one client, all failing) is among them.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "queries/base/codec.h"

namespace outcomed {

class RateFilter {
 public:
  static constexpr int kPoints = 32;
  static constexpr int kAlternatives = 6;
  using Evidence = Eigen::Array<double, kAlternatives, 1>;

  RateFilter() = default;
  // centre: 0 < centre <= 0.9, the mean rate; sigma > 0 and memory in [0, 1) of its logarithm;
  // steps_per_jump: mean number of steps between jumps. What is known of the present rate stays.
  void set(double centre, double sigma, double memory, double steps_per_jump);
  [[nodiscard]] bool ready() const { return ready_; }

  // Time passes up to step number `step`, counted from any fixed origin; called for every step.
  void pass(std::int64_t step) {
    if (step / kStride != stride_) move(step / kStride);
  }
  // The log evidence of k of n for each alternative (2, 3.5, 6, 12, 25, 60 times the centre, at
  // most 95 %), and the step becomes part of what is known. 0 <= k <= n, n > 0.
  Evidence observe(double n, double k);

  // The state; the model is set() anew by the owner.
  void save(Writer& writer) const;
  void load(Reader& reader);

 private:
  using Points = Eigen::Array<double, kPoints, 1>;
  using Weights = Eigen::Array<float, kPoints, 1>;
  static constexpr std::int64_t kStride = 4;  // The jump is applied every so many steps.
  static constexpr double kMostCounts = 170;  // Steps with more requests are scaled down.

  void move(std::int64_t stride);
  void carry_over(const Points& log_rate);
  [[nodiscard]] Points burst_factors(double n, int k) const;

  bool ready_ = false;
  std::int64_t stride_ = 0;
  Weights weights_ = Weights::Zero();  // Present probabilities of the points.
  Points log_rate_ = Points::Zero();   // Evenly spaced, but for the bounds of rates.
  Points log_odds_ = Points::Zero();
  Points log_good_ = Points::Zero();  // log(1 - rate).
  Points one_over_rate_ = Points::Zero();
  Evidence alternative_log_odds_ = Evidence::Zero();
  Evidence alternative_log_good_ = Evidence::Zero();
  // Column i: where the weight of point i goes.
  using Jump = Eigen::Matrix<float, kPoints, kPoints>;
  Jump jump_ = Jump::Zero();
};

}  // namespace outcomed
