#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "queries/counters/counter_reader_impl.h"

namespace outcomed {
namespace {

// A rise that took longer than this can't be placed in time: it is reported, not booked.
constexpr Duration kPlacementLimit = std::chrono::hours(1);

}  // namespace

void CounterReader::Impl::choose_bookings(const CounterSeries& series) {
  bookings_.clear();
  for (const Contribution& contribution : series.contributions) {
    const SignalPlan& plan = plans_[contribution.signal];
    const int divisor = contribution.calibrated && plan.calibration != nullptr
                            ? plan.calibration->divisor(targets_[series.target].name())
                            : 1;
    bookings_.push_back({tallies_[contribution.signal].rows(contribution), divisor});
  }
}

// Of the series that the bookings were chosen for.
void CounterReader::Impl::book(std::int64_t at, double from, double to) {
  const std::size_t step = steps_.at(at - unix_ms(range_.begin));
  if (step >= step_count_)
    return;  // In a rest of the range shorter than a step: none of its batches'.
  for (const RiseBooking& booking : bookings_) {
    // Floors of both ends (nothing is negative): halves of a double count left at one scrape are
    // made up at the next.
    const auto whole = [&](double value) {
      return static_cast<std::int64_t>(booking.divisor == 1 ? value : value / booking.divisor);
    };
    const std::int64_t count = whole(to) - whole(from);
    booking.rows.add(step, count);
  }
}

void CounterReader::Impl::on_first(SeriesId id, const FirstSight& sight) {
  const CounterSeries& series = series_[id];
  const Target& target = targets_[series.target];
  const BirthEvidence evidence{created_at(series, sight.at), watch_start_, kPlacementLimit};
  const Birth birth = judge_birth(sight, target, evidence);
  if (birth == Birth::too_long) {
    say("unplaced_counts", target.name(),
        fmt::format(
            "{} stood at {} at first sight after more than {} unseen; these can't be placed "
            "in time and are not counted",
            series.name, sight.value, format_duration(kPlacementLimit)));
  }
  if (birth != Birth::proved && birth != Birth::assumed) return;
  births_.push_back({id, sight.at, target.scrape_before(sight.at, sight.process), sight.value,
                     birth == Birth::proved});
}

void CounterReader::Impl::walk(const SampleSegment& segment) {
  CounterSeries& series = series_[segment.series];
  const auto rise = [&](const Rise& r) {
    if (r.at - r.since > kPlacementLimit.count()) {
      say("unplaced_counts", targets_[series.target].name(),
          fmt::format("{} rose by {} between {} and {}; this can't be placed in time and is not "
                      "counted",
                      series.name, r.to - r.from, format_rfc3339(from_unix_ms(r.since)),
                      format_rfc3339(from_unix_ms(r.at))));
      return;
    }
    book(r.at, r.from, r.to);
  };
  choose_bookings(series);
  walk_series(samples_of(segment), unix_ms(range_.begin), targets_[series.target], series.memory,
              faults_, rise, [&](const FirstSight& sight) { on_first(segment.series, sight); });
}

// Without a restart a series of the client library never goes away. One that does in the very
// scrape in which a relative appears that stands no lower was given other labels: nothing happened.
// For all series that went: the lowest last value, by metric and time of the last sample.
CounterReader::Impl::Gone CounterReader::Impl::series_gone() const {
  Gone gone;
  for (const CounterSeries& series : series_) {
    if (series.kind != SeriesKind::counter || series.memory.stands.empty()) continue;
    const Stand& last = *std::ranges::max_element(series.memory.stands, {}, &Stand::at);
    if (last.value <= 0) continue;
    const auto [found, fresh] = gone.try_emplace({series.metric, last.at}, last.value);
    if (!fresh) found->second = std::min(found->second, last.value);
  }
  return gone;
}

void CounterReader::Impl::settle_births() {
  const bool doubtful = std::ranges::any_of(
      births_, [](const PendingBirth& b) { return !b.proved && b.seen_before != 0; });
  const Gone gone = doubtful ? series_gone() : Gone{};
  for (const PendingBirth& birth : births_) {
    const CounterSeries& series = series_[birth.series];
    const auto relative = gone.find({series.metric, birth.seen_before});
    if (!birth.proved && relative != gone.end() && relative->second <= birth.value) {
      say("relabelled_series", targets_[series.target].name(),
          fmt::format("{} went on under other labels without a restart; counted from there on",
                      series.name));
      continue;
    }
    choose_bookings(series);
    book(birth.at, 0, birth.value);
  }
  births_.clear();
}

}  // namespace outcomed
