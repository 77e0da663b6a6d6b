#include "detectors/stats/threshold_match.h"

#include <cmath>

namespace outcomed {

std::string_view to_string(MatchVerdict verdict) {
  switch (verdict) {
    case MatchVerdict::exact:
      return "exact";
    case MatchVerdict::bracketed:
      return "bracketed";
    case MatchVerdict::impossible:
      return "impossible";
  }
  return "?";
}

std::optional<ThresholdMatch> match_threshold(const PairTable& table, double old_threshold) {
  std::vector<WeightedCount> by_score(table.new_scores.size());
  WeightedCount old_passed;
  WeightedCount whole;
  for (const PairCell& cell : table.cells) {
    const WeightedCount items{cell.count, cell.mass(), cell.weight * cell.mass()};
    by_score[cell.column] = by_score[cell.column] + items;
    whole = whole + items;
    if (table.old_scores[cell.row] >= old_threshold) old_passed = old_passed + items;
  }
  if (by_score.empty()) return {};
  const double slack = 1e-9 * whole.mass;  // Sums of weights in another order.
  WeightedCount stricter;                  // At or above the next higher score.
  std::optional<double> stricter_score;
  WeightedCount passed;
  std::size_t at = by_score.size();
  while (passed.mass < old_passed.mass - slack && at > 0) {
    stricter = passed;
    if (at < by_score.size()) stricter_score = table.new_scores[at];
    passed = passed + by_score[--at];
  }
  const auto attainable = [&](std::optional<double> threshold, const WeightedCount& part) {
    return AttainableShare{threshold, share_estimate(part, whole)};
  };
  ThresholdMatch match;
  match.thresholds.push_back(attainable(
      at < by_score.size() ? std::optional(table.new_scores[at]) : std::nullopt, passed));
  if (std::abs(passed.mass - old_passed.mass) <= slack) return match;
  match.thresholds.push_back(attainable(stricter_score, stricter));
  match.verdict = stricter_score ? MatchVerdict::bracketed : MatchVerdict::impossible;
  match.tie_fraction = (old_passed.mass - stricter.mass) / (passed.mass - stricter.mass);
  return match;
}

}  // namespace outcomed
