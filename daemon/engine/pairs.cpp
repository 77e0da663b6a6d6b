// The engine's part in comparing two sources: which signals are a pair, and what they counted.
#include <algorithm>

#include "daemon/engine/bucket_codec.h"
#include "daemon/engine/engine_impl.h"

namespace outcomed {
namespace {

void add_batch(PairWatch& watch, PairMember side, const SignalBatch& batch) {
  const std::size_t steps = batch.steps();
  for (std::size_t i = 0; i < steps; ++i) {
    std::int64_t n = 0;
    for (std::size_t at = i; at < batch.n.size(); at += steps) n += batch.n[at];
    watch.add(side, batch.range.begin + batch.step * static_cast<std::int64_t>(i), batch.step, n,
              batch.coverage[i] == Coverage::complete);
  }
}

}  // namespace

void Engine::Impl::make_pairs() {
  const auto find = [&](const std::string& signal) -> std::optional<PairPlace> {
    for (std::size_t unit = 0; unit < units_.size(); ++unit) {
      const std::vector<SignalPlan>& plans = units_[unit].spec.plans;
      const auto found = std::ranges::find(plans, signal, &SignalPlan::name);
      if (found != plans.end()) {
        return PairPlace{unit, static_cast<std::size_t>(found - plans.begin())};
      }
    }
    return std::nullopt;
  };
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    const std::vector<SignalPlan>& plans = units_[unit].spec.plans;
    for (std::size_t plan = 0; plan < plans.size(); ++plan) {
      if (plans[plan].same_as.empty()) continue;
      const auto metrics = find(plans[plan].same_as);
      if (!metrics || metrics->unit == unit) continue;
      const SourceUnit& of = units_[metrics->unit].spec;
      if (!PairWatch::comparable(of.plans[metrics->plan], plans[plan])) continue;
      pairs_.push_back(
          {PairWatch({of.name, plans[plan].same_as}, {units_[unit].spec.name, plans[plan].name}),
           {*metrics, PairPlace{unit, plan}}});
    }
  }
}

void Engine::Impl::feed_pairs(const Unit& unit, const Fetch& fetch) {
  const auto index = static_cast<std::size_t>(&unit - units_.data());
  for (Pair& pair : pairs_) {
    for (const PairMember side : {PairMember::metrics, PairMember::rows}) {
      const PairPlace& place = pair.places[static_cast<std::size_t>(side)];
      if (place.unit == index) add_batch(pair.watch, side, fetch.batches[place.plan]);
    }
  }
}

void Engine::Impl::judge_pairs() {
  for (Pair& pair : pairs_) {
    const std::vector<RuleEvent> events = pair.watch.judge();
    if (pair.watch.state().phase != Phase::inactive || !events.empty()) {
      record_.alerts.push_back(pair.watch.state());
    }
    for (const RuleEvent& event : events) book_.apply(event, {}, settings_.config_hash);
  }
}

// The hour in progress is read again from the store. Of what lies before a first start only the
// newest hour is told.
Status Engine::Impl::restore_pairs(const std::vector<SourceRow>& rows, Timestamp now) {
  for (Pair& pair : pairs_) {
    Timestamp from = Timestamp::max();
    Timestamp newest = Timestamp::min();
    for (const PairPlace& place : pair.places) {
      const auto row = std::ranges::find(rows, units_[place.unit].spec.name, &SourceRow::source);
      const Timestamp mark = row == rows.end() ? now - PairWatch::kHour : row->watermark;
      from = std::min(from, mark);
      newest = std::max(newest, mark);
    }
    from = std::max(from, newest - PairWatch::kHour * std::int64_t{PairWatch::kMostHours});
    from = floor_to(from, PairWatch::kHour);
    pair.watch.judge_from(from);
    for (const PairMember side : {PairMember::metrics, PairMember::rows}) {
      if (Status status = restore_side(pair, side, from); !status) return status;
    }
  }
  return ok();
}

Status Engine::Impl::restore_side(Pair& pair, PairMember side, Timestamp from) {
  const PairPlace& place = pair.places[static_cast<std::size_t>(side)];
  const Unit& unit = units_[place.unit];
  if (from >= unit.watermark) return ok();
  auto stored = store_->buckets(unit.storage[place.plan], {from, unit.watermark});
  if (!stored) return std::move(stored).error();
  const std::size_t cells = unit.spec.source->cells(place.plan).size();
  SignalBatch batch;
  for (const BucketRow& row : *stored) {
    // Of other cells than now: the hour is read as one with missing steps.
    if (unpack(row, cells, batch)) add_batch(pair.watch, side, batch);
  }
  return ok();
}

}  // namespace outcomed
