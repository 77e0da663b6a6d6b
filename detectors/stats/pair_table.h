// Pairs of scores of the same items as a table of counts: what every paired statistic starts from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace outcomed {

struct ScorePair {
  double old_score = 0;
  double new_score = 0;
  double weight = 1;
};

// `count` items with the same two scores and the same weight.
struct PairCell {
  std::uint32_t row = 0;     // Index into old_scores.
  std::uint32_t column = 0;  // Index into new_scores.
  double weight = 1;         // Of one item.
  double count = 0;

  [[nodiscard]] double mass() const { return weight * count; }
};

// I x J, kept sparse: scores with many decimals have as many cells as items. Scores ascend without
// repeats; cells are sorted by row, column, weight; every row and column has a cell.
struct PairTable {
  std::vector<double> old_scores;
  std::vector<double> new_scores;
  std::vector<PairCell> cells;

  [[nodiscard]] double items() const;  // Sum of counts.
  [[nodiscard]] double mass() const;   // Sum of weights; equals items() where all weigh 1.
  // Kish's effective number of items, (sum w)^2 / sum w^2 (L. Kish, Survey Sampling, 1965): as many
  // items of equal weight would say as much. 0 for an empty table.
  [[nodiscard]] double effective_items() const;
  [[nodiscard]] std::vector<double> old_masses() const;  // By old_scores.
  [[nodiscard]] std::vector<double> new_masses() const;  // By new_scores.
};

// Scores must be finite and weights finite and positive: the reader of the input sees to that.
// O(n log n).
PairTable make_pair_table(std::span<const ScorePair> pairs);

}  // namespace outcomed
