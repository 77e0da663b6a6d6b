#include "detectors/stats/pair_table.h"

#include <algorithm>
#include <tuple>

namespace outcomed {
namespace {

template <class Score>
std::vector<double> distinct(std::span<const ScorePair> pairs, Score score) {
  std::vector<double> scores;
  scores.reserve(pairs.size());
  for (const ScorePair& pair : pairs) scores.push_back(score(pair));
  std::ranges::sort(scores);
  scores.erase(std::ranges::unique(scores).begin(), scores.end());
  scores.shrink_to_fit();
  return scores;
}

std::uint32_t index_of(const std::vector<double>& scores, double score) {
  return static_cast<std::uint32_t>(std::ranges::lower_bound(scores, score) - scores.begin());
}

}  // namespace

double PairTable::items() const {
  double sum = 0;
  for (const PairCell& cell : cells) sum += cell.count;
  return sum;
}

double PairTable::mass() const {
  double sum = 0;
  for (const PairCell& cell : cells) sum += cell.mass();
  return sum;
}

double PairTable::effective_items() const {
  double sum = 0;
  double squares = 0;
  for (const PairCell& cell : cells) {
    sum += cell.mass();
    squares += cell.weight * cell.mass();
  }
  return squares > 0 ? sum * sum / squares : 0;
}

std::vector<double> PairTable::old_masses() const {
  std::vector<double> masses(old_scores.size(), 0.0);
  for (const PairCell& cell : cells) masses[cell.row] += cell.mass();
  return masses;
}

std::vector<double> PairTable::new_masses() const {
  std::vector<double> masses(new_scores.size(), 0.0);
  for (const PairCell& cell : cells) masses[cell.column] += cell.mass();
  return masses;
}

PairTable make_pair_table(std::span<const ScorePair> pairs) {
  PairTable table;
  table.old_scores = distinct(pairs, [](const ScorePair& pair) { return pair.old_score; });
  table.new_scores = distinct(pairs, [](const ScorePair& pair) { return pair.new_score; });
  std::vector<PairCell> items;
  items.reserve(pairs.size());
  for (const ScorePair& pair : pairs) {
    items.push_back({index_of(table.old_scores, pair.old_score),
                     index_of(table.new_scores, pair.new_score), pair.weight, 1});
  }
  const auto key = [](const PairCell& cell) {
    return std::tuple(cell.row, cell.column, cell.weight);
  };
  std::ranges::sort(items, {}, key);
  for (const PairCell& item : items) {
    if (!table.cells.empty() && key(table.cells.back()) == key(item)) {
      table.cells.back().count += 1;
    } else {
      table.cells.push_back(item);
    }
  }
  return table;
}

}  // namespace outcomed
