#include "daemon/rescore/report_json.h"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace outcomed {
namespace {

using nlohmann::ordered_json;

std::int64_t whole(double count) { return std::llround(count); }

ordered_json json_of(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json triple(const std::optional<double>& value, const std::optional<Interval>& interval) {
  if (!interval) return {json_of(value), nullptr, nullptr};
  return {json_of(value), interval->low, interval->high};
}

ordered_json triple(const ShareEstimate& share) {
  return triple(share.value, share.value ? std::optional(share.interval) : std::nullopt);
}

ordered_json decisions_json(const ThresholdDecisions& made) {
  return {{"threshold", made.threshold},
          {"tp", whole(made.table.both.items)},
          {"fp", whole(made.table.only_new.items)},
          {"fn", whole(made.table.only_old.items)},
          {"tn", whole(made.table.neither.items)},
          {"share_new", triple(made.share_new)},
          {"precision", triple(made.precision)},
          {"recall", triple(made.recall)},
          {"agreement", triple(made.agreement)},
          {"mcnemar_p", json_of(made.mcnemar_p)}};
}

ordered_json match_json(const FeedReport& feed) {
  ordered_json thresholds = ordered_json::array();
  std::size_t decided = 0;
  for (const AttainableShare& attainable : feed.match.thresholds) {
    ordered_json one = {
        {"threshold", json_of(attainable.threshold)},
        {"share", json_of(attainable.share.value)},
        {"share_interval", {attainable.share.interval.low, attainable.share.interval.high}}};
    if (attainable.threshold) {
      one["precision"] = triple(feed.at_match[decided].precision);
      one["recall"] = triple(feed.at_match[decided].recall);
      ++decided;
    }
    thresholds.push_back(std::move(one));
  }
  return {{"verdict", to_string(feed.match.verdict)},
          {"thresholds", std::move(thresholds)},
          {"tie_fraction", feed.match.tie_fraction}};
}

ordered_json distance_json(const DistributionDistance& distance) {
  return {{"wasserstein", distance.wasserstein},
          {"ks", distance.ks},
          {"ks_cut", distance.ks_cut},
          {"energy", distance.energy},
          {"hellinger", distance.hellinger},
          {"jensen_shannon", distance.jensen_shannon},
          {"psi", distance.psi}};
}

ordered_json feed_json(const FeedReport& feed, std::string_view name) {
  const ThresholdDecisions& made = feed.at_new_threshold;
  ordered_json decisions = ordered_json::array({decisions_json(feed.at_old_threshold)});
  if (made.threshold != feed.at_old_threshold.threshold) decisions.push_back(decisions_json(made));
  return {{"feed", name},
          {"n", whole(feed.n)},
          {"effective_n", feed.effective_n},
          {"spearman", triple(feed.ranks.spearman, feed.ranks.interval)},
          {"too_few", feed.too_few_for_rank_interval},
          {"kendall_tau_b", json_of(feed.ranks.kendall_tau_b)},
          {"mean_shift", triple(feed.shift.mean, feed.shift.interval)},
          {"up", json_of(feed.up.value)},
          {"equal", json_of(feed.equal.value)},
          {"down", json_of(feed.down.value)},
          {"spread_ratio", json_of(feed.spread_ratio)},
          {"distance", distance_json(feed.distance)},
          {"share_old", json_of(feed.share_old.value)},
          {"share_new", json_of(made.share_new.value)},
          {"precision", triple(made.precision)},
          {"recall", triple(made.recall)},
          {"agreement", triple(made.agreement)},
          {"mcnemar_p", json_of(made.mcnemar_p)},
          {"auc", json_of(feed.auc)},
          {"decisions", std::move(decisions)},
          {"matched", match_json(feed)}};
}

}  // namespace

std::string rescore_json(const RescoreReport& report, const JudgeNames& names,
                         const ScoreRows& rows) {
  ordered_json skipped = ordered_json::array();
  for (const SkippedRows& one : rows.skipped) {
    skipped.push_back(
        {{"reason", one.reason}, {"count", one.count}, {std::string(rows.place) + "s", one.lines}});
  }
  ordered_json feeds = ordered_json::array();
  for (const FeedReport& feed : report.feeds) feeds.push_back(feed_json(feed, feed.feed));
  const double at = report.terms.new_threshold.value_or(report.terms.old_threshold);
  const ordered_json body = {
      {"old", {{"judge", names.old_judge}, {"threshold", report.terms.old_threshold}}},
      {"new", {{"judge", names.new_judge}, {"threshold", at}}},
      {"rows", rows.rows},
      {"skipped", std::move(skipped)},
      {"notes", rows.notes},
      {"feeds", std::move(feeds)},
      {"pooled", feed_json(report.pooled, "pooled")}};
  return body.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace outcomed
