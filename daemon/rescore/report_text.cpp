#include "daemon/rescore/report_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace outcomed {
namespace {

std::string percent(double share) {
  if (share > 0 && share < 0.0005) return "<0.1 %";
  if (share < 1 && share >= 0.9995) return ">99.9 %";
  if (share == 1) return "100 %";
  return fmt::format("{:.1f} %", share * 100);
}

std::string percent(const ShareEstimate& share) {
  return share.value ? percent(*share.value) : "-";
}

std::string percent_with_interval(const ShareEstimate& share) {
  if (!share.value) return "-";
  return fmt::format("{} ({:.1f} to {:.1f})", percent(share), share.interval.low * 100,
                     share.interval.high * 100);
}

std::string spearman_text(const FeedReport& feed) {
  if (!feed.ranks.spearman) return "- (a score never varies)";
  const std::string value = fmt::format("{:.3f}", *feed.ranks.spearman);
  if (feed.too_few_for_rank_interval) return value + " (too few)";
  if (!feed.ranks.interval) return value + " (no interval)";
  return fmt::format("{} ({:.3f} to {:.3f})", value, feed.ranks.interval->low,
                     feed.ranks.interval->high);
}

std::string shift_text(const FeedReport& feed) {
  const std::string value = fmt::format("{:+.2f}", feed.shift.mean);
  if (!feed.shift.interval) return value + " (too few)";
  return fmt::format("{} ({:+.2f} to {:+.2f})", value, feed.shift.interval->low,
                     feed.shift.interval->high);
}

std::string optional_text(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

std::string chance_text(const std::optional<double>& p) {
  if (!p) return "-";
  return *p < 0.0005 ? fmt::format("{:.0e}", *p) : fmt::format("{:.3f}", *p);
}

std::string name_of(const FeedReport& feed, bool pooled) {
  return pooled ? "pooled" : feed.feed.empty() ? "(no name)" : feed.feed;
}

std::string count_text(const WeightedCount& count) { return fmt::format("{:.0f}", count.items); }

std::string items_text(const FeedReport& feed) {
  if (feed.equal_weights) return fmt::format("{:.0f}", feed.n);
  return fmt::format("{:.0f} (worth {:.0f})", feed.n, feed.effective_n);
}

std::vector<std::string> score_cells(const FeedReport& feed) {
  return {items_text(feed),
          spearman_text(feed),
          optional_text(feed.ranks.kendall_tau_b, 3),
          shift_text(feed),
          percent(feed.up),
          percent(feed.equal),
          percent(feed.down),
          optional_text(feed.spread_ratio, 2),
          fmt::format("{:.2f}", feed.distance.wasserstein),
          fmt::format("{:.2f} at {}", feed.distance.ks, number_text(feed.distance.ks_cut))};
}

std::vector<std::string> decision_cells(const ThresholdDecisions& made) {
  return {number_text(made.threshold),
          percent(made.share_new),
          count_text(made.table.both),
          count_text(made.table.only_new),
          count_text(made.table.only_old),
          count_text(made.table.neither),
          percent_with_interval(made.precision),
          percent_with_interval(made.recall),
          percent(made.agreement),
          chance_text(made.mcnemar_p)};
}

std::vector<std::vector<std::string>> match_rows(const FeedReport& feed) {
  std::vector<std::vector<std::string>> rows;
  std::size_t decided = 0;
  for (const AttainableShare& attainable : feed.match.thresholds) {
    std::vector<std::string> row = {percent(feed.share_old),
                                    std::string(to_string(feed.match.verdict))};
    if (attainable.threshold) {
      const ThresholdDecisions& made = feed.at_match[decided++];
      row.insert(row.end(),
                 {number_text(*attainable.threshold), percent_with_interval(attainable.share),
                  percent_with_interval(made.precision), percent_with_interval(made.recall)});
    } else {
      row.insert(row.end(), {"above every score", percent(attainable.share), "-", "-"});
    }
    row.push_back(optional_text(feed.auc, 3));
    if (!rows.empty()) row[0] = row[1] = row.back() = "";
    rows.push_back(std::move(row));
  }
  return rows;
}

template <class Rows>
void add_rows(ReportTable& table, const RescoreReport& report, Rows rows_of) {
  const auto add = [&](const FeedReport& feed, bool pooled) {
    std::string name = name_of(feed, pooled);
    for (std::vector<std::string> row : rows_of(feed)) {
      row.insert(row.begin(), name);
      name.clear();  // Once for each feed.
      table.rows.push_back(std::move(row));
    }
  };
  for (const FeedReport& feed : report.feeds) add(feed, false);
  if (report.feeds.size() > 1) add(report.pooled, true);
}

ReportTable scores_table(const RescoreReport& report) {
  ReportTable table{"Scores of the same items, new against old",
                    {"feed", ">items", "Spearman", ">Kendall", "mean shift", ">up", ">equal",
                     ">down", ">spread", ">W1", "KS"},
                    {}};
  add_rows(table, report, [](const FeedReport& feed) {
    return std::vector<std::vector<std::string>>(1, score_cells(feed));
  });
  return table;
}

ReportTable decisions_table(const RescoreReport& report, const JudgeNames& names) {
  ReportTable table{fmt::format("Agreement with the old judge's decisions ({} at or above {})",
                                names.old_judge, number_text(report.terms.old_threshold)),
                    {"feed", ">new from", ">new passes", ">both", ">only new", ">only old",
                     ">neither", "precision", "recall", ">same", ">McNemar p"},
                    {}};
  add_rows(table, report, [](const FeedReport& feed) {
    std::vector<std::vector<std::string>> rows = {decision_cells(feed.at_old_threshold)};
    if (feed.at_new_threshold.threshold != feed.at_old_threshold.threshold) {
      rows.push_back(decision_cells(feed.at_new_threshold));
    }
    return rows;
  });
  return table;
}

ReportTable match_table(const RescoreReport& report, const JudgeNames& names) {
  ReportTable table{
      fmt::format("Thresholds of {} that keep the old share", names.new_judge),
      {"feed", ">old passes", "verdict", ">new from", "new passes", "precision", "recall", ">AUC"},
      {}};
  add_rows(table, report, match_rows);
  return table;
}

template <class Predicate>
bool any_feed(const RescoreReport& report, Predicate predicate) {
  return std::ranges::any_of(report.feeds, predicate);
}

std::vector<std::string> remarks_of(const RescoreReport& report) {
  std::vector<std::string> remarks;
  const auto verdict_is = [](MatchVerdict verdict) {
    return [verdict](const FeedReport& feed) { return feed.match.verdict == verdict; };
  };
  if (any_feed(report, verdict_is(MatchVerdict::impossible))) {
    remarks.emplace_back(
        "impossible: even the highest new score lets more pass than the old judge did. Use a finer "
        "scale, the mean of several samples, or a second criterion to break ties.");
  }
  if (any_feed(report, verdict_is(MatchVerdict::bracketed))) {
    remarks.emplace_back(
        "bracketed: no threshold of the new judge keeps the old share; the two nearest are shown.");
  }
  if (report.feeds.size() > 1) {
    remarks.emplace_back(
        "pooled: the correlation mixes differences between feeds in, and a pooled threshold keeps "
        "only the pooled share.");
  }
  if (any_feed(report, [](const FeedReport& feed) { return feed.too_few_for_rank_interval; })) {
    remarks.push_back(
        fmt::format("too few: below {:.0f} items the interval of a rank correlation "
                    "can't be trusted.",
                    kFewestForRankInterval));
  }
  if (!report.pooled.equal_weights) {
    remarks.emplace_back(
        "weighted: shares and means are those of the natural stream; both, only new, only old and "
        "neither count items of the sample; intervals are made for the number of equally weighted "
        "items that the sample is worth.");
  }
  return remarks;
}

}  // namespace

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

ReportText report_text(const RescoreReport& report, const JudgeNames& names) {
  ReportText text;
  text.opening =
      fmt::format("{:.0f} items in {} {}: old judge {}, new judge {}. Intervals are 95 %.",
                  report.pooled.n, report.feeds.size(), report.feeds.size() == 1 ? "feed" : "feeds",
                  names.old_judge, names.new_judge);
  text.tables = {scores_table(report), decisions_table(report, names), match_table(report, names)};
  text.remarks = remarks_of(report);
  return text;
}

std::vector<std::string> skipped_text(const ScoreRows& rows) {
  std::vector<std::string> sentences;
  for (const SkippedRows& skipped : rows.skipped) {
    std::string lines = fmt::format("{}{}", rows.place, skipped.count == 1 ? "" : "s");
    for (std::size_t i = 0; i < skipped.lines.size(); ++i) {
      lines += fmt::format("{} {}", i == 0 ? "" : ",", skipped.lines[i]);
    }
    if (skipped.count > skipped.lines.size()) {
      lines += fmt::format(" and {} more", skipped.count - skipped.lines.size());
    }
    sentences.push_back(fmt::format("{} of {} rows left out: {} ({})", skipped.count, rows.rows,
                                    skipped.reason, lines));
  }
  return sentences;
}

}  // namespace outcomed
