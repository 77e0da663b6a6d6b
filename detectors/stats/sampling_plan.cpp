#include "detectors/stats/sampling_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>

namespace outcomed {
namespace {

constexpr std::size_t kMostPoints = 20;
constexpr std::size_t kEqualBins = 10;

// FNV-1a, 64 bits, over feed, a zero byte and item; then the finisher of MurmurHash3, as names that
// differ in the last digit only would else lie close together.
std::uint64_t stable_hash(const ScoredItem& item) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto eat = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  };
  eat(item.feed);
  eat(std::string_view("\0", 1));
  eat(item.item);
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccd;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53;
  return hash ^ (hash >> 33);
}

// Gives each part the same, but none more than it holds. What doesn't divide goes one by one to the
// parts that hold most. Each part's number never falls as n grows.
std::vector<std::size_t> share_out(std::size_t n, const std::vector<std::size_t>& holds) {
  std::vector<std::size_t> order(holds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return holds[i]; });
  std::vector<std::size_t> given(holds.size(), 0);
  std::size_t left = holds.size();
  for (const std::size_t i : order) {  // The smallest first: what it can't take others will.
    given[i] = std::min(holds[i], n / left);
    n -= given[i];
    --left;
  }
  return given;
}

// Items of one feed and bin, the least hash first.
using Stratum = std::vector<std::size_t>;

Stratum by_hash(const Stratum& stratum, std::span<const ScoredItem> items) {
  std::vector<std::tuple<std::uint64_t, std::string_view, std::size_t>> keyed;
  for (const std::size_t i : stratum) keyed.emplace_back(stable_hash(items[i]), items[i].item, i);
  std::ranges::sort(keyed);
  Stratum sorted;
  for (const auto& key : keyed) sorted.push_back(std::get<2>(key));
  return sorted;
}

}  // namespace

std::vector<ScoreBin> score_bins(std::span<const ScoredItem> items) {
  std::vector<double> scores;
  for (const ScoredItem& item : items) scores.push_back(item.old_score);
  std::ranges::sort(scores);
  scores.erase(std::ranges::unique(scores).begin(), scores.end());
  std::vector<ScoreBin> bins;
  if (scores.size() <= kMostPoints) {
    for (const double score : scores) bins.push_back({score, score});
    return bins;
  }
  // Not (high - low) * i: that can overflow, and the last edge must be the greatest score exactly.
  const auto edge = [&](std::size_t i) {
    const double part = static_cast<double>(i) / static_cast<double>(kEqualBins);
    return std::lerp(scores.front(), scores.back(), part);
  };
  for (std::size_t i = 0; i < kEqualBins; ++i) bins.push_back({edge(i), edge(i + 1)});
  return bins;
}

std::size_t bin_of(const std::vector<ScoreBin>& bins, double score) {
  const auto after = std::ranges::upper_bound(bins, score, {}, &ScoreBin::low);
  return after == bins.begin() ? 0 : static_cast<std::size_t>(after - bins.begin()) - 1;
}

SamplingPlan plan_sample(std::span<const ScoredItem> items, std::size_t n) {
  SamplingPlan plan;
  plan.bins = score_bins(items);
  std::map<std::string, std::map<std::size_t, Stratum>> feeds;
  for (std::size_t i = 0; i < items.size(); ++i) {
    feeds[items[i].feed][bin_of(plan.bins, items[i].old_score)].push_back(i);
  }
  std::vector<std::size_t> feed_sizes;
  for (const auto& [feed, strata] : feeds) {
    std::size_t size = 0;
    for (const auto& [bin, stratum] : strata) size += stratum.size();
    feed_sizes.push_back(size);
  }
  const std::vector<std::size_t> by_feed = share_out(n, feed_sizes);
  const std::size_t planned = std::accumulate(by_feed.begin(), by_feed.end(), std::size_t{0});
  std::size_t feed_at = 0;
  for (const auto& [feed, strata] : feeds) {
    std::vector<std::size_t> sizes;
    for (const auto& [bin, stratum] : strata) sizes.push_back(stratum.size());
    const std::vector<std::size_t> by_bin = share_out(by_feed[feed_at++], sizes);
    std::size_t at = 0;
    for (const auto& [bin, stratum] : strata) {
      const std::size_t count = by_bin[at++];
      plan.strata.push_back({feed, bin, stratum.size(), count});
      if (count == 0) continue;
      Stratum taken = by_hash(stratum, items);
      taken.resize(count);
      std::ranges::sort(taken);
      const double weight = static_cast<double>(stratum.size()) /
                            static_cast<double>(items.size()) /
                            (static_cast<double>(count) / static_cast<double>(planned));
      for (const std::size_t i : taken) plan.items.push_back({i, bin, weight});
    }
  }
  return plan;
}

}  // namespace outcomed
