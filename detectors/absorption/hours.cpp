#include "detectors/absorption/hours.h"

#include <algorithm>
#include <utility>

#include "queries/failure_side.h"

namespace outcomed {
namespace {

SpanVerdict verdict_of(AbsorptionOutcome outcome, const AbsorptionSpan& span) {
  const auto verdict = static_cast<SpanVerdict>(outcome);
  if (span.unknown >= span.length) return SpanVerdict::no_data;
  return span.unknown > Duration::zero() && !is_failing(outcome) ? SpanVerdict::partial : verdict;
}

// Worst of the parts, else of the whole.
AbsorptionOutcome outcome_of(const std::vector<AbsorptionPart>& parts,
                             const AbsorptionJudgement& whole, bool provider_fails) {
  const AbsorptionPart* worst = nullptr;
  bool absorbed = whole.outcome == AbsorptionOutcome::absorbed;
  for (const AbsorptionPart& part : parts) {
    absorbed |= part.judgement.outcome == AbsorptionOutcome::absorbed;
    if (!is_failing(part.judgement.outcome)) continue;
    if (worst == nullptr || part.counts.consumer_failures > worst->counts.consumer_failures) {
      worst = &part;
    }
  }
  if (worst != nullptr) return worst->judgement.outcome;
  if (is_failing(whole.outcome)) return whole.outcome;
  if (absorbed) return AbsorptionOutcome::absorbed;
  return provider_fails ? AbsorptionOutcome::too_few : whole.outcome;
}

}  // namespace

std::string_view to_string(SpanVerdict verdict) {
  if (verdict == SpanVerdict::partial) return "partial";
  if (verdict == SpanVerdict::no_data) return "no_data";
  return to_string(static_cast<AbsorptionOutcome>(verdict));
}

AbsorptionHours::AbsorptionHours(Duration length, AbsorptionLimits limits)
    : length_(length), limits_(limits) {}

void AbsorptionHours::add(const SignalBatch& batch, const std::vector<Labels>& cells) {
  struct Cell {
    std::uint32_t group = 0;
    SideCounts::Place place;
  };
  std::vector<Cell> places;
  for (const Labels& labels : cells) {
    Labels group;
    for (const auto& [name, value] : labels.pairs()) {
      if (name != failure_side::kLabel) group.set(name, value);
    }
    const auto [found, is_new] = index_.emplace(group, static_cast<std::uint32_t>(groups_.size()));
    if (is_new) {
      groups_.push_back(std::move(group));
      attributions_.emplace_back();
    }
    places.push_back({found->second, SideCounts::place_of(labels.get(failure_side::kLabel))});
  }
  const std::size_t known =
      std::min(places.size(), batch.n.size() / std::max<std::size_t>(1, batch.steps()));
  for (std::size_t step = 0; step < batch.steps(); ++step) {
    const Timestamp start = batch.range.begin + batch.step * static_cast<std::int64_t>(step);
    Hour& hour = hours_[floor_to(start, length_)];
    if (hour.span.length == Duration::zero()) hour.span.start = start;
    hour.span.length += batch.step;
    if (batch.coverage[step] != Coverage::complete) {
      hour.span.unknown += batch.step;
      continue;
    }
    std::map<std::uint32_t, SideCounts> groups;
    for (std::size_t cell = 0; cell < known; ++cell) {
      const std::size_t at = cell * batch.steps() + step;
      if (batch.n[at] == 0 && batch.k[at] == 0) continue;
      groups[places[cell].group].add(places[cell].place, batch.n[at], batch.k[at]);
    }
    for (auto& [group, counts] : groups) {
      attributions_[group].attribute(counts, start);
      hour.span.counts += counts;
      hour.groups[group] += counts;
    }
  }
}

AbsorptionRow AbsorptionHours::judged(const Hour& hour) const {
  AbsorptionRow row;
  row.span = hour.span;
  const AbsorptionJudgement whole = judge_absorption(hour.span.counts, limits_);
  row.provider_fails = whole.provider_fails;
  for (const auto& [group, counts] : hour.groups) {
    row.parts.push_back({groups_[group], counts, judge_absorption(counts, limits_)});
    row.provider_fails |= row.parts.back().judgement.provider_fails;
  }
  std::ranges::sort(row.parts, {}, &AbsorptionPart::group);
  row.verdict = verdict_of(outcome_of(row.parts, whole, row.provider_fails), row.span);
  return row;
}

std::vector<AbsorptionRow> AbsorptionHours::rows() const {
  std::vector<AbsorptionRow> rows;
  for (const auto& [start, hour] : hours_) rows.push_back(judged(hour));
  return rows;
}

std::vector<AbsorptionRow> AbsorptionHours::rows(const Labels& group) const {
  const auto index = index_.find(group);
  std::vector<AbsorptionRow> rows;
  for (const auto& [start, hour] : hours_) {
    Hour own{hour.span, {}};
    own.span.counts = {};
    if (index != index_.end()) {
      if (const auto found = hour.groups.find(index->second); found != hour.groups.end()) {
        own.span.counts = found->second;
        own.groups.emplace(found->first, found->second);
      }
    }
    rows.push_back(judged(own));
  }
  return rows;
}

std::vector<Labels> AbsorptionHours::groups() const {
  std::vector<Labels> sorted = groups_;
  std::ranges::sort(sorted);
  return sorted;
}

AbsorptionTotals totals_of(const std::vector<AbsorptionRow>& rows) {
  AbsorptionTotals totals;
  for (const AbsorptionRow& row : rows) {
    const bool whole = row.span.unknown == Duration::zero();
    const bool failure_free =
        whole && row.span.counts.requests > 0 && row.span.counts.consumer_failures == 0;
    ++totals.hours;
    totals.unknown += row.span.unknown;
    totals.counts += row.span.counts;
    totals.unknown_hours +=
        row.verdict == SpanVerdict::partial || row.verdict == SpanVerdict::no_data ? 1 : 0;
    totals.provider_failure_hours += row.provider_fails ? 1 : 0;
    totals.absorbed_hours += row.verdict == SpanVerdict::absorbed ? 1 : 0;
    totals.leaking_hours += row.verdict == SpanVerdict::leaking ? 1 : 0;
    totals.rejected_hours += row.verdict == SpanVerdict::rejected ? 1 : 0;
    totals.self_inflicted_hours += row.verdict == SpanVerdict::self_inflicted ? 1 : 0;
    totals.failure_free_hours += failure_free ? 1 : 0;
    totals.failure_free_provider_failure_hours += failure_free && row.provider_fails ? 1 : 0;
    bool by_part = false;
    for (const AbsorptionPart& part : row.parts) {
      if (!part.judgement.provider_fails) continue;
      by_part = true;
      totals.under_failure += part.counts;
    }
    if (row.provider_fails && !by_part) totals.under_failure += row.span.counts;
  }
  return totals;
}

}  // namespace outcomed
