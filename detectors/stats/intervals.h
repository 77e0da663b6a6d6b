// Intervals for shares and means.
#pragma once

#include <optional>
#include <span>

#include "detectors/sentence.h"

namespace outcomed {

inline constexpr double kNormal975 = 1.959963984540054;  // Normal quantile at 0.975.

// Chance that a standard normal is at least as far from 0 as z: erfc(|z| / sqrt 2).
double normal_two_sided(double z);

// The t with P(T <= t) = probability for Student's law with `degrees` > 0 (not only whole ones),
// to some 1e-12 of itself. probability in (0, 1). From I_x(d/2, 1/2), x = d / (d + t²)
// (incomplete_beta) and bisection.
double student_t_quantile(double probability, double degrees);

// Wilson's score interval at 95 % (E. B. Wilson 1927) for counts that need not be whole, such as
// effective ones; [0, 1] where trials <= 0. 0 <= successes <= trials.
Interval wilson_interval(double successes, double trials);

// Anytime-valid interval for a share: all p with B(a+k, b+n-k) / (B(a,b) p^k (1-p)^(n-k)) <
// 1/alpha, a = b = 1/2 (Robbins 1970; Waudby-Smith and Ramdas, NeurIPS 2020, "prior-posterior
// ratio"). It holds at all times at once, so it may be looked at after each request. 0 < alpha < 1,
// 0 <= successes <= trials. [0, 1] for no trials.
Interval beta_confidence_sequence(double successes, double trials, double alpha = 0.05);

struct MeanEstimate {
  double mean = 0;
  double deviation = 0;              // Standard deviation of one value (n - 1).
  std::optional<Interval> interval;  // 95 %; nothing below two values.
  double effective_n = 0;            // Kish; n for equal weights.
};

// Mean of weighted values with its t interval; of differences it is the paired t interval.
// m = sum w x / sum w, se² = n/(n-1) sum w² (x - m)² / (sum w)² (linearised, W. G. Cochran,
// Sampling Techniques, 1977, §6), t with effective_n - 1 degrees. Equal weights give s/sqrt(n) and
// n - 1. counts: how many items each value stands for. The three have one length; counts are >= 1
// and weights > 0. Nothing for no values.
std::optional<MeanEstimate> mean_estimate(std::span<const double> values,
                                          std::span<const double> weights,
                                          std::span<const double> counts);

}  // namespace outcomed
