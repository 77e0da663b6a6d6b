// How far two scores put the same items in the same order.
#pragma once

#include <optional>

#include "detectors/sentence.h"
#include "detectors/stats/pair_table.h"

namespace outcomed {

struct RankCorrelation {
  // Pearson's correlation of mid-ranks (C. Spearman 1904, ties as M. G. Kendall, Rank Correlation
  // Methods, ch. 3). Nothing where one of the scores never varies.
  std::optional<double> spearman;
  // Delete-one jackknife standard error of spearman, and the 95 % interval that it gives on
  // Fisher's scale: tanh(atanh r ± 1.96 se / (1 - r²)). Nothing where leaving out one item leaves a
  // score that never varies, or where the order is the same (or reversed) throughout. Trustworthy
  // from some 60 items: whoever shows it says so below that.
  std::optional<double> jackknife_error;
  std::optional<Interval> interval;
  // (concordant - discordant) / sqrt(pairs untied in old * pairs untied in new), Kendall's tau-b.
  std::optional<double> kendall_tau_b;
};

// Exact, in O(cells log columns): with centred mid-ranks a_i = (mass below) + (own mass)/2 - N/2
// and b_j likewise, rho = S / sqrt(A B) where S = sum T_ij a_i b_j, A = sum T_i. a_i², B = sum T_.j
// b_j². Leaving out an item of weight w in cell (p, q) moves a_i by (w/2) sign(p - i), so
//   A' = A + w sum_i T_i. a_i sign(p-i) + (w²/4)(N - T_p.) - w a_p²,
//   S' = S + (w/2) sum_ij T_ij (sign(p-i) b_j + sign(q-j) a_i) + (w²/4) Q_pq - w a_p b_q,
// with Q_pq = sum_ij T_ij sign(p-i) sign(q-j): prefix sums and one Fenwick tree. tau-b is
// sum T_pq Q_pq / sqrt((N² - sum T_i.²)(N² - sum T_.j²)).
// Weighted items: the same with masses for counts, an item being left out with its weight.
RankCorrelation rank_correlation(const PairTable& table);

}  // namespace outcomed
