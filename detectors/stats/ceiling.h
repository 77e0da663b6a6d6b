// What is normal for a share, by moments from block sums.
//
// With p = Σ k_b / Σ n_b over blocks b (hours, days):
//   X     = Σ (k_b - n_b p)^2 / (n_b p (1 - p))                         Pearson's statistic
//   rho_h = (X - (B - 1)) / Σ (n_b - 1)(1 - n_b / N)                    wobble between blocks
//   rho_m = (Σ (k - n p_b)^2 - Σ n p_b (1 - p_b)) / Σ n (n - 1) p_b (1 - p_b)
//                                              wobble of the steps inside a block,
//           p_b = (k_b + 20 p) / (n_b + 20)
//   ceiling = quantile q of Beta(p s, (1 - p) s), s = 1 / rho_h - 1
// (moment estimators of the intra-class correlation: Kleinman, J. Am. Statist. Assoc. 68, 1973).
// Blocks with n = 0 are left out. Nothing here is clamped; callers have bounds of their own.
#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace outcomed {

struct BlockMoments {
  double share = 0;  // p; at least half a failure: max(Σ k, 1/2) / Σ n. 0 without any request.
  double chi2 = 0;   // X.
  double rho = 0;    // rho_h as it is, may be negative; 0 with fewer than two blocks.
  double n = 0;      // Σ n.
  double k = 0;      // Σ k.
  std::int64_t blocks = 0;  // With requests.
};

// k and n of one size, 0 <= k <= n.
BlockMoments block_moments(const Eigen::ArrayXd& k, const Eigen::ArrayXd& n);

// 0 < p < 1, 0 < rho < 1, 0 < q < 1.
double learned_ceiling(double p, double rho, double q);

// Sums over the steps of one block, for its part of rho_m; nothing else of the steps is kept.
struct StepSums {
  double n = 0;
  double k = 0;
  double nn = 0;
  double nk = 0;
  double kk = 0;

  void add(double step_n, double step_k) {
    n += step_n;
    k += step_k;
    nn += step_n * step_n;
    nk += step_n * step_k;
    kk += step_k * step_k;
  }
};
// Numerator and denominator of rho_m, summed over blocks.
struct WobbleSums {
  double above = 0;
  double below = 0;

  // `p`: the share of the whole window, to which the block's own is drawn.
  void add(const StepSums& block, double p);
  [[nodiscard]] double rho() const { return below > 0 ? above / below : 0; }
};

}  // namespace outcomed
