// Which items to have scored anew, so that all of the old scale is covered and not only where most
// items lie; and the weights that lead from there back to the natural stream.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "detectors/stats/scored_item.h"

namespace outcomed {

// low <= score < high; the last bin holds its high end too, and a point has low == high.
struct ScoreBin {
  double low = 0;
  double high = 0;
};

// Distinct finite scores where there are at most 20, else 10 of equal width from the least to the
// greatest.
std::vector<ScoreBin> score_bins(std::span<const ScoredItem> items);
// The bin that holds a score, as an index; scores must lie within the bins.
std::size_t bin_of(const std::vector<ScoreBin>& bins, double score);

struct PlannedItem {
  std::size_t index = 0;  // Into the items given.
  std::size_t bin = 0;
  double weight = 1;
};

// A part of the stream and how much of it was planned.
struct PlanStratum {
  std::string feed;
  std::size_t bin = 0;
  std::size_t natural = 0;
  std::size_t planned = 0;
};

struct SamplingPlan {
  std::vector<ScoreBin> bins;
  std::vector<PlanStratum> strata;  // Feed by feed, bin by bin; only those that have items.
  std::vector<PlannedItem> items;   // In the order of strata, then as given.
};

// n items, or all where there are fewer, spread evenly over the feeds, and within a feed evenly
// over its bins; a part with fewer items than its share gives all, and the rest goes to the others.
// Within a stratum the items with the least FNV-1a hash of feed and item are taken: no chance in
// it, the same items give the same plan in any order, and a larger n keeps all items of a smaller
// one. (feed, item) must be without repeats. weight = (natural share of the stratum) / (its share
// of the plan): their mean over the plan is 1 where no stratum was left out. A stratum with natural
// > 0 and planned = 0 can't be re-weighted to.
SamplingPlan plan_sample(std::span<const ScoredItem> items, std::size_t n);

}  // namespace outcomed
