// Where in a window a share changed: maximum likelihood.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

namespace outcomed {

// Binomial log-likelihood of k of n at its own share, up to a constant. 0 <= k <= n; 0 for n = 0.
inline double binomial_fit(double n, double k) {
  double sum = 0;
  if (k > 0) sum += k * std::log(k / n);
  if (n > k) sum += (n - k) * std::log((n - k) / n);
  return sum;
}

enum class ChangeSide { rise, fall };

// The split of steps into "before" and "since" under which their counts are most likely
// (D. V. Hinkley, Biometrika 57, 1970, for a binomial share). Steps are shown newest first.
class ChangePoint {
 public:
  // All requests and failures of the steps that will be shown, and of what counts as before.
  ChangePoint(double all_n, double all_k, ChangeSide side)
      : all_n_(all_n), all_k_(all_k), side_(side) {}

  // The step `back` steps before the newest. One without requests belongs to neither side.
  void step(std::size_t back, double n, double k) {
    if (n <= 0) return;
    since_n_ += n;
    since_k_ += k;
    const double before_n = all_n_ - since_n_;
    const double before_k = all_k_ - since_k_;
    const double rise = since_k_ * before_n - before_k * since_n_;  // Sign of the difference.
    if (before_n > 0 && (side_ == ChangeSide::fall ? rise > 0 : rise < 0)) return;
    const double likelihood = binomial_fit(since_n_, since_k_) + binomial_fit(before_n, before_k);
    if (likelihood < best_) return;
    best_ = likelihood;
    best_back_ = back;
  }

  // How many steps before the newest the change began.
  [[nodiscard]] std::size_t back() const { return best_back_; }

 private:
  double all_n_;
  double all_k_;
  ChangeSide side_;
  double since_n_ = 0;
  double since_k_ = 0;
  double best_ = -std::numeric_limits<double>::infinity();
  std::size_t best_back_ = 0;
};

}  // namespace outcomed
