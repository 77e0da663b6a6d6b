// Sequential evidence: Shiryaev-Roberts sums for the trigger, CUSUM for the onset.
//
//   SR:     M <- (w + M) e^x        start 0; alarm when the mean over the components reaches A
//   CUSUM:  C <- max(C, 0) + x      the change began where C was last at or below 0
// With E[e^x | past] <= 1, M_t - t is a supermartingale, so the mean number of steps to a false
// alarm is at least A, whatever the dependence between steps (Shin, Ramdas, Rinaldo, E-detectors,
// New England J. of Statistics in Data Science, 2023). A mean of such sums keeps the promise. w is
// 1, or weights that are known before the step and whose mean over the sums is 1. Empty steps must
// not be pushed: they would count as evidence of nothing, and M grows with time.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>

#include "queries/base/codec.h"

namespace outcomed {

// log(1 + e^a) without overflow.
double log1p_exp(double a);
// log M' = log(w + M) + x, w > 0; log M of 0 is -infinity.
double shiryaev_roberts(double log_m, double x, double w = 1);
double cusum(double c, double x);

// Several components (alternatives, cut points) of one weight, in log space: evidence without upper
// limit. Steps are numbered by the caller.
class EvidenceMixture {
 public:
  // components >= 1.
  explicit EvidenceMixture(Eigen::Index components);

  // x: log evidence of this step for each component; values above `cap` count as `cap`. x of
  // another size than components() is an error of the caller and changes nothing. w > 0.
  void push(std::span<const double> x, double cap, std::int64_t step, double w = 1);
  void reset();

  [[nodiscard]] Eigen::Index components() const { return log_m_.size(); }
  // log of the mean of M; -infinity before the first step.
  [[nodiscard]] double log_sr() const;
  // log of the mean of e^C; 0 before the first step.
  [[nodiscard]] double log_cusum() const;
  // The largest C: above 0 while something may be wrong.
  [[nodiscard]] double highest_cusum() const { return c_.maxCoeff(); }
  // The step before which the largest C was last at or below 0; -1 before the first step.
  [[nodiscard]] std::int64_t onset() const;

  void save(Writer& writer) const;
  // False for bytes of another number of components.
  bool load(Reader& reader);

 private:
  Eigen::ArrayXd log_m_;
  Eigen::ArrayXd c_;
  Eigen::Array<std::int64_t, Eigen::Dynamic, 1> since_;
};

}  // namespace outcomed
