// The paired re-scoring report: what changes when a new judge scores what an old one did. Pure:
// scored items in, numbers out.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "detectors/stats/decisions.h"
#include "detectors/stats/distance.h"
#include "detectors/stats/intervals.h"
#include "detectors/stats/pair_table.h"
#include "detectors/stats/ranks.h"
#include "detectors/stats/scored_item.h"
#include "detectors/stats/threshold_match.h"

namespace outcomed {

// Below this many (effective) items the interval of a rank correlation can't be trusted.
inline constexpr double kFewestForRankInterval = 60;

struct RescoreTerms {
  double old_threshold = 0;
  // At which the new judge is to decide; the old threshold where nothing else is said.
  std::optional<double> new_threshold;
};

// The new judge's decisions at one threshold against the old judge's at the old threshold.
struct ThresholdDecisions {
  double threshold = 0;
  DecisionTable table;
  ShareEstimate precision;
  ShareEstimate recall;
  ShareEstimate agreement;
  ShareEstimate share_new;
  std::optional<double> mcnemar_p;
};

struct FeedReport {
  std::string feed;
  PairTable pairs;
  double n = 0;
  double effective_n = 0;  // n where all items weigh the same.
  bool equal_weights = true;
  RankCorrelation ranks;
  bool too_few_for_rank_interval = false;  // Then ranks.interval is empty.
  MeanEstimate shift;                      // Of new - old.
  ShareEstimate up;
  ShareEstimate equal;
  ShareEstimate down;
  std::optional<double> spread_ratio;  // Standard deviation of new / of old; nothing if old is 0.
  DistributionDistance distance;       // Of new from old; PSI at the effective number of items.
  ShareEstimate share_old;
  std::optional<double> auc;  // Of the new score for the old decision.
  ThresholdDecisions at_old_threshold;
  ThresholdDecisions at_new_threshold;
  ThresholdMatch match;
  std::vector<ThresholdDecisions> at_match;  // One for each threshold of match that is a score.
};

struct RescoreReport {
  RescoreTerms terms;
  std::vector<FeedReport> feeds;  // By name.
  // All items together. Its correlation mixes differences between feeds in, and its matched
  // threshold keeps the share of all, not of each feed.
  FeedReport pooled;
};

// Scores must be finite, weights finite and positive. Errors: invalid, for no items.
Result<RescoreReport> rescore(std::span<const ScoredItem> items, const RescoreTerms& terms);

}  // namespace outcomed
