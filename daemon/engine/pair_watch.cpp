#include "daemon/engine/pair_watch.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "detectors/sentence.h"

namespace outcomed {
namespace {

constexpr Duration kEdge = std::chrono::minutes(1);
// With longer steps too little of the hour would be left between the edges.
constexpr Duration kLongestEdgeStep = std::chrono::minutes(5);
// Between these the metrics count "about twice" what the rows say.
constexpr double kTwiceFrom = 1.8;
constexpr double kTwiceTo = 2.2;

bool is_inner(Timestamp hour, Timestamp start, Duration step) {
  if (step > kLongestEdgeStep) return true;
  return start >= hour + kEdge && start + step <= hour + PairWatch::kHour - kEdge;
}

// The likeliest cause.
std::string_view reason(std::int64_t metrics, std::int64_t rows) {
  if (metrics == 0) return "the metrics stand still while rows arrive";
  if (rows == 0) {
    return "the metrics move while no rows arrive: are spend logs disabled, or can the gateway not "
           "write to its database?";
  }
  const double ratio = double(metrics) / double(rows);
  if (ratio > kTwiceFrom && ratio < kTwiceTo) {
    return "the metrics count about twice what the rows say: the gateway counts failures twice "
           "before 1.81.14 (set the preset's version), or two jobs scrape it";
  }
  if (ratio > 1) return "rows are missing, or the metrics count some requests more than once";
  return "the metrics miss requests: is one of the gateway's processes or replicas not scraped?";
}

}  // namespace

PairWatch::PairWatch(PairSide metrics, PairSide rows) {
  state_.key = {
      std::string(kSourcesDiffer), "ticket",
      Labels{
          {"signal", metrics.signal}, {"source", metrics.source}, {"compared_with", rows.source}}};
  sides_[0].name = std::move(metrics);
  sides_[1].name = std::move(rows);
}

bool PairWatch::comparable(const SignalPlan& metrics, const SignalPlan& rows) {
  return std::ranges::all_of(std::array{&metrics, &rows}, [](const SignalPlan* plan) {
    return plan->step.count() > 0 && kHour % plan->step == Duration::zero() &&
           plan->anchor % kHour == Duration::zero();
  });
}

void PairWatch::add(PairMember member, Timestamp start, Duration step, std::int64_t n,
                    bool complete) {
  Side& side = sides_[static_cast<std::size_t>(member)];
  if (start < side.watermark) return;
  side.watermark = start + step;
  const Timestamp hour = floor_to(start, kHour);
  if (hour < judge_from_) return;
  HourSum& sum = side.hours[hour];
  if (complete) sum.complete += step;
  sum.n += n;
  if (is_inner(hour, start, step)) sum.inner += n;
  if (side.hours.size() > kMostHours) side.hours.erase(side.hours.begin());
}

std::vector<RuleEvent> PairWatch::judge() {
  std::vector<RuleEvent> events;
  const Timestamp passed = std::min(sides_[0].watermark, sides_[1].watermark);
  for (Side& side : sides_) {
    while (!side.hours.empty() && side.hours.begin()->first + kHour <= passed) {
      const Timestamp hour = side.hours.begin()->first;
      judge_hour(hour, events);
      for (Side& each : sides_) each.hours.erase(hour);
    }
  }
  return events;
}

void PairWatch::judge_hour(Timestamp hour, std::vector<RuleEvent>& events) {
  const HourSum& metrics = sides_[0].hours[hour];
  const HourSum& rows = sides_[1].hours[hour];
  if (metrics.complete != kHour || rows.complete != kHour) return;
  const HourSum& more = metrics.n >= rows.n ? metrics : rows;
  const HourSum& less = metrics.n >= rows.n ? rows : metrics;
  // Too few to judge, or apart by no more than an edge's burst explains: the phase is held.
  const bool differ = more.inner >= kFewest && double(more.inner) > kMostRatio * double(less.n);
  const bool agree = more.n >= kFewest && double(more.n) <= kMostRatio * double(less.n);
  if (!differ && !agree) return;
  const Timestamp end = hour + kHour;
  Step moved = step(std::move(state_), differ ? Judgement::breached : Judgement::healthy, end, hour,
                    AlertPolicy{});
  state_ = std::move(moved.state);
  if (!moved.transition) return;
  Verdict verdict;
  verdict.judgement = differ ? Judgement::breached : Judgement::healthy;
  verdict.at = end;
  verdict.onset = state_.onset;
  verdict.sentence = sentence(metrics, rows, end, differ);
  for (const auto& [side, sum] : {std::pair(&sides_[0], &metrics), std::pair(&sides_[1], &rows)}) {
    verdict.facts.emplace_back(fmt::format("{} of {}", side->name.signal, side->name.source),
                               std::to_string(sum->n));
  }
  if (differ) verdict.facts.emplace_back("reason", reason(metrics.n, rows.n));
  events.push_back({state_, *std::move(moved.transition), 0, std::move(verdict)});
}

std::string PairWatch::sentence(const HourSum& metrics, const HourSum& rows, Timestamp end,
                                bool differ) const {
  const std::string numbers =
      fmt::format("{} against {} in the hour to {}", metrics.n, rows.n, format_since(end, end));
  const std::string who =
      fmt::format("{} of source {} and {} of source {}", sides_[0].name.signal,
                  sides_[0].name.source, sides_[1].name.signal, sides_[1].name.source);
  if (!differ) return fmt::format("{} agree again: {}.", who, numbers);
  return fmt::format("{} differ since {}: {}; {}.", who, format_since(state_.onset, end), numbers,
                     reason(metrics.n, rows.n));
}

}  // namespace outcomed
