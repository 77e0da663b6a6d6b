#include "detectors/stats/rescore.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace outcomed {
namespace {

ThresholdDecisions decide(const PairTable& pairs, double old_threshold, double new_threshold,
                          bool equal_weights) {
  ThresholdDecisions result;
  result.threshold = new_threshold;
  result.table = decision_table(pairs, old_threshold, new_threshold);
  result.precision = precision(result.table);
  result.recall = recall(result.table);
  result.agreement = agreement(result.table);
  result.share_new = new_share(result.table);
  result.mcnemar_p = mcnemar(result.table, equal_weights);
  return result;
}

void measure_moves(FeedReport& report) {
  const PairTable& pairs = report.pairs;
  std::vector<double> moves;
  std::vector<double> olds;
  std::vector<double> news;
  std::vector<double> weights;
  std::vector<double> counts;
  WeightedCount up;
  WeightedCount equal;
  WeightedCount down;
  for (const PairCell& cell : pairs.cells) {
    olds.push_back(pairs.old_scores[cell.row]);
    news.push_back(pairs.new_scores[cell.column]);
    moves.push_back(news.back() - olds.back());
    weights.push_back(cell.weight);
    counts.push_back(cell.count);
    WeightedCount& kind = moves.back() > 0 ? up : moves.back() < 0 ? down : equal;
    kind = kind + WeightedCount{cell.count, cell.mass(), cell.weight * cell.mass()};
  }
  const WeightedCount whole = up + equal + down;
  report.shift = mean_estimate(moves, weights, counts).value_or(MeanEstimate{});
  report.up = share_estimate(up, whole);
  report.equal = share_estimate(equal, whole);
  report.down = share_estimate(down, whole);
  const double old_spread = mean_estimate(olds, weights, counts).value_or(MeanEstimate{}).deviation;
  const double new_spread = mean_estimate(news, weights, counts).value_or(MeanEstimate{}).deviation;
  if (old_spread > 0) report.spread_ratio = new_spread / old_spread;
}

// Both marginals over all scores that occur in either.
Result<DistributionDistance> measure_distance(const PairTable& pairs, double scale) {
  std::map<double, std::pair<double, double>> masses;
  for (const PairCell& cell : pairs.cells) {
    masses[pairs.old_scores[cell.row]].first += cell.mass() * scale;
    masses[pairs.new_scores[cell.column]].second += cell.mass() * scale;
  }
  std::vector<double> points;
  std::vector<double> first;
  std::vector<double> second;
  for (const auto& [score, mass] : masses) {
    points.push_back(score);
    first.push_back(mass.first);
    second.push_back(mass.second);
  }
  return distance_between(points, first, second);
}

Result<FeedReport> report_of(std::string feed, std::span<const ScorePair> scores,
                             const RescoreTerms& terms) {
  FeedReport report;
  report.feed = std::move(feed);
  report.pairs = make_pair_table(scores);
  const PairTable& pairs = report.pairs;
  report.n = pairs.items();
  report.equal_weights = std::ranges::all_of(
      pairs.cells, [&](const PairCell& cell) { return cell.weight == pairs.cells.front().weight; });
  report.effective_n = report.equal_weights ? report.n : pairs.effective_items();
  report.ranks = rank_correlation(pairs);
  report.too_few_for_rank_interval = report.effective_n < kFewestForRankInterval;
  if (report.too_few_for_rank_interval) report.ranks.interval.reset();
  measure_moves(report);
  auto distance = measure_distance(pairs, report.effective_n / pairs.mass());
  if (!distance) return std::move(distance).error();
  report.distance = *distance;
  const auto at = [&](double threshold) {
    return decide(pairs, terms.old_threshold, threshold, report.equal_weights);
  };
  report.at_old_threshold = at(terms.old_threshold);
  report.at_new_threshold = at(terms.new_threshold.value_or(terms.old_threshold));
  report.share_old = old_share(report.at_old_threshold.table);
  report.auc = auc(pairs, terms.old_threshold);
  report.match = match_threshold(pairs, terms.old_threshold).value_or(ThresholdMatch{});
  for (const AttainableShare& attainable : report.match.thresholds) {
    if (attainable.threshold) report.at_match.push_back(at(*attainable.threshold));
  }
  return report;
}

}  // namespace

Result<RescoreReport> rescore(std::span<const ScoredItem> items, const RescoreTerms& terms) {
  if (items.empty()) return Error{ErrorKind::invalid, "there is no item with both scores"};
  std::map<std::string, std::vector<ScorePair>> by_feed;
  std::vector<ScorePair> all;
  for (const ScoredItem& item : items) {
    all.push_back({item.old_score, item.new_score, item.weight});
    by_feed[item.feed].push_back(all.back());
  }
  RescoreReport report;
  report.terms = terms;
  for (const auto& [feed, pairs] : by_feed) {
    auto made = report_of(feed, pairs, terms);
    if (!made) return std::move(made).error();
    report.feeds.push_back(*std::move(made));
  }
  auto pooled = report_of("", all, terms);
  if (!pooled) return std::move(pooled).error();
  report.pooled = *std::move(pooled);
  return report;
}

}  // namespace outcomed
