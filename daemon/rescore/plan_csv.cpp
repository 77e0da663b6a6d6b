#include "daemon/rescore/plan_csv.h"

#include <fmt/core.h>

#include "daemon/rescore/report_text.h"
#include "queries/recording/csv_text.h"

namespace outcomed {
namespace {

std::string bin_name(const SamplingPlan& plan, std::size_t bin) {
  const ScoreBin& ends = plan.bins[bin];
  if (ends.low == ends.high) return number_text(ends.low);
  return fmt::format("{} to {}", number_text(ends.low), number_text(ends.high));
}

}  // namespace

std::string plan_csv(const SamplingPlan& plan, std::span<const ScoredItem> items) {
  std::string out = "feed,item,old,bin,weight\n";
  for (const PlannedItem& planned : plan.items) {
    const ScoredItem& item = items[planned.index];
    // Shortest digits that read back as the same number.
    out += fmt::format("{},{},{},{},{}\n", csv_field(item.feed), csv_field(item.item),
                       item.old_score, bin_name(plan, planned.bin), planned.weight);
  }
  return out;
}

std::vector<std::string> plan_notes(const SamplingPlan& plan) {
  std::vector<std::size_t> natural(plan.bins.size(), 0);
  std::vector<std::size_t> planned(plan.bins.size(), 0);
  std::vector<std::string> notes;
  for (const PlanStratum& stratum : plan.strata) {
    natural[stratum.bin] += stratum.natural;
    planned[stratum.bin] += stratum.planned;
    if (stratum.planned == 0) {
      notes.push_back(
          fmt::format("feed {}, old score {}: none of {} items; the plan can't speak for "
                      "them, a larger --plan can",
                      stratum.feed, bin_name(plan, stratum.bin), stratum.natural));
    }
  }
  std::string bins;
  for (std::size_t bin = 0; bin < plan.bins.size(); ++bin) {
    if (natural[bin] == 0) continue;
    bins += fmt::format("{}{}: {} of {}", bins.empty() ? "" : ", ", bin_name(plan, bin),
                        planned[bin], natural[bin]);
  }
  notes.insert(notes.begin(), "items by old score: " + bins);
  return notes;
}

}  // namespace outcomed
