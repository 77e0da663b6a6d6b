// The past, with the folds of the daemon and a clock of its own.
#include <fmt/core.h>

#include <algorithm>

#include "daemon/engine/engine_impl.h"

namespace outcomed {

Status Engine::Impl::replay(TimeRange range, const std::function<void(double)>& progress) {
  for (Unit& unit : units_) {
    if (unit.rules.empty()) continue;  // Is only compared with another, and not in a replay.
    // What comes before teaches the folds what is normal, as far as there is any.
    const Timestamp begin = floor_of(unit, range.begin);
    unit.watermark = floor_of(unit, range.begin - reach_of(unit));
    auto span = unit.spec.source->span();
    if (!span) return std::move(span).error();
    if (*span) {
      unit.watermark = std::clamp(floor_of(unit, (*span)->begin), unit.watermark, begin);
    }
    judge_all_from(unit, begin);
    judged_from_ = begin;
    const Timestamp from = unit.watermark;
    Timestamp end = floor_of(unit, range.end);
    if (end < range.end) end += step_of(unit);
    while (const auto chunk = next_range(unit, end)) {
      Result<Fetch> fetched = unit.spec.source->fetch(*chunk);
      if (!fetched) return std::move(fetched).error();
      fold(unit, *fetched);
      for (Problem& problem : fetched->problems) {
        if (std::ranges::find(replay_problems_, problem) == replay_problems_.end()) {
          replay_problems_.push_back(std::move(problem));
        }
      }
      unit.watermark = chunk->end;
      progress(double((unit.watermark - from).count()) / double((end - from).count()));
    }
  }
  for (const Unit& unit : units_) {
    const std::string gaps = unit.coverage.to_text();
    if (!gaps.empty()) replay_problems_.push_back({"incomplete_data", unit.spec.name, gaps});
  }
  replayed_ = book_.changed();
  std::ranges::stable_sort(replayed_, {}, &Episode::fired_at);
  return ok();
}

std::string CoverageCount::to_text() const {
  if (incomplete == 0) return {};
  return fmt::format(
      "{} of {} steps have no complete data ({} to {}): nothing is judged there, which isn't the "
      "same as healthy",
      incomplete, steps, format_rfc3339(first), format_rfc3339(last));
}

}  // namespace outcomed
