// e-BH: which of K sums of evidence are discoveries (Wang & Ramdas, J. R. Statist. Soc. B 84,
// 2022).
//   r = max { r : e_(r) >= K / (alpha r) },  e_(1) >= e_(2) >= …
// For e-values the false discovery rate is at most alpha, whatever the dependence. For
// Shiryaev-Roberts sums it is alpha for each step waited: E[FDP at T] <= alpha E[T] at every
// stopping time T ("error over patience": Dandapanthula & Ramdas, arXiv 2501.04130).
#pragma once

#include <cstddef>
#include <vector>

namespace outcomed {

struct Discoveries {
  std::size_t count = 0;
  double threshold = 0;  // Exactly those with e >= threshold.
};

// e >= 0 (infinity allowed), alpha > 0. Sorts `e`, the largest first. {0, infinity} when nothing is
// rejected.
Discoveries e_bh(std::vector<double>& e, double alpha);

}  // namespace outcomed
