#include <fmt/core.h>

#include <algorithm>

#include "daemon/engine/bucket_codec.h"
#include "daemon/engine/engine_impl.h"

namespace outcomed {
namespace {

// How much of the past is judged at a first start. Rules over a window ask for no more than they
// need; what was learned over weeks must not tell of alarms of weeks ago: what is breached still
// is.
Duration judged_past(const Detector& detector, Duration step) {
  if (!detector.long_memory()) return detector.reach();
  Duration hold{};
  for (const Tier& tier : detector.tiers()) hold = std::max(hold, tier.hold);
  return std::min(detector.reach(), hold + 2 * step);
}

}  // namespace

Status Engine::Impl::restore(Timestamp now) {
  auto rows = store_->sources();
  if (!rows) return std::move(rows).error();
  auto cells = store_->cells();
  if (!cells) return std::move(cells).error();
  if (Status status = restore_snapshots(); !status) return status;
  for (Unit& unit : units_) {
    if (Status status = restore_unit(unit, *rows, *cells, now); !status) return status;
  }
  if (Status status = restore_pairs(*rows, now); !status) return status;
  auto open = store_->current_episodes(Timestamp::max());
  if (!open) return std::move(open).error();
  book_.restore(*std::move(open));
  book_.begin_tick();
  if (Status status = restore_alerts(now); !status) return status;
  return heal_outbox(now);
}

Status Engine::Impl::restore_snapshots() {
  auto snapshots = store_->snapshots();
  if (!snapshots) return std::move(snapshots).error();
  for (Unit& unit : units_) {
    for (Bound& bound : unit.rules) {
      const RuleSpec& rule = bound.runner->spec();
      const auto own = std::ranges::find(*snapshots, rule.name, &SnapshotRow::rule);
      if (!rule.detector->long_memory() || own == snapshots->end()) continue;
      if (own->settings_hash != rule.identity) continue;
      Reader reader(own->folds);
      if (bound.runner->load(reader, own->at)) {
        bound.saved_at = own->at;
      } else {  // Another version wrote it: the buckets there are make a new one.
        bound.runner = std::make_unique<RuleRunner>(rule, unit.spec.plans[bound.plan]);
        runners_[rule.name] = bound.runner.get();
      }
    }
  }
  return ok();
}

// Where the buckets begin that a rule has still to fold.
Timestamp Engine::Impl::first_unknown(const Unit& unit, const Bound& bound) const {
  const Timestamp begin = unit.watermark - bound.runner->spec().detector->reach();
  return bound.saved_at ? std::max(begin, *bound.saved_at) : begin;
}

Status Engine::Impl::restore_unit(Unit& unit, const std::vector<SourceRow>& rows,
                                  const std::vector<CellRow>& cells, Timestamp now) {
  const Timestamp horizon = floor_of(unit, now - unit.spec.delay);
  unit.watermark =
      unit.spec.source->has_past() ? floor_of(unit, horizon - reach_of(unit)) : horizon;
  for (Bound& bound : unit.rules) {
    const Duration past = judged_past(*bound.runner->spec().detector, step_of(unit));
    bound.judge_from = floor_of(unit, horizon - past);
  }
  const auto row = std::ranges::find(rows, unit.spec.name, &SourceRow::source);
  if (row == rows.end()) return ok();

  Reader reader(row->memory);
  bool same = reader.u64() == unit.storage.size();
  for (const std::string& name : unit.storage) same = same && reader.text() == name;
  if (!same) {  // Other signals or labels: the past is read anew, alerts go on where they were.
    judge_all_from(unit, row->watermark);
    return ok();
  }
  for (std::size_t i = 0; i < unit.storage.size(); ++i) {
    std::vector<CellRow> own;
    std::ranges::copy_if(cells, std::back_inserter(own),
                         [&](const CellRow& cell) { return cell.signal == unit.storage[i]; });
    std::ranges::sort(own, {}, &CellRow::id);
    std::vector<Labels> labels;
    for (CellRow& cell : own) labels.push_back(std::move(cell.labels));
    unit.spec.source->seed_cells(i, labels);
    unit.stored_cells[i] = labels.size();
  }
  const std::string memory = reader.text();
  Reader inner(memory);
  unit.spec.source->load(inner);  // Unreadable: the source starts anew, the watermark stands.
  unit.watermark = row->watermark;
  judge_all_from(unit, row->watermark);
  return fold_stored(unit);
}

Status Engine::Impl::fold_stored(Unit& unit) {
  std::vector<RuleEvent> none;
  for (std::size_t i = 0; i < unit.spec.plans.size(); ++i) {
    TimeRange past{unit.watermark, unit.watermark};
    for (const Bound& bound : unit.rules) {
      if (bound.plan == i) past.begin = std::min(past.begin, first_unknown(unit, bound));
    }
    const std::vector<Labels>& cells = unit.spec.source->cells(i);
    auto rows = store_->buckets(unit.storage[i], past);
    if (!rows) return std::move(rows).error();
    SignalBatch batch;
    for (const BucketRow& row : *rows) {
      if (!unpack(row, cells.size(), batch)) {
        return Error{ErrorKind::corrupt, fmt::format("buckets of {} at {} can't be read",
                                                     unit.storage[i], format_rfc3339(row.start))};
      }
      for (const Bound& bound : unit.rules) {
        if (bound.plan == i) bound.runner->advance(batch, cells, Timestamp::max(), none);
      }
    }
  }
  return ok();
}

bool Engine::Impl::restore_alert(const AlertState& state) {
  std::vector<RuleEvent> events;
  if (state.key.rule == kConfigBroken) {
    config_watch_.restore(state);
    return true;
  }
  for (Pair& pair : pairs_) {
    if (state.key != pair.watch.state().key) continue;
    pair.watch.restore(state);
    return true;
  }
  for (Unit& unit : units_) {
    if (state.key.rule == kSourceDown && state.key.group.get("source") == unit.spec.name) {
      unit.watch.restore(state);
      return true;
    }
    for (const Bound& bound : unit.rules) {
      if (bound.runner->spec().name != state.key.rule) continue;
      if (!bound.runner->restore(state, events, unit.watermark)) return false;
      for (const RuleEvent& event : events) apply(event, &bound.runner->spec(), unit);
      return true;
    }
  }
  return false;
}

Status Engine::Impl::restore_alerts(Timestamp now) {
  auto alerts = store_->alerts();
  if (!alerts) return std::move(alerts).error();
  for (AlertState& state : *alerts) {
    if (restore_alert(state)) continue;
    book_.close(state.key, now, "the rule was removed or changed");
    state.phase = Phase::inactive;
    record_.alerts.push_back(std::move(state));
  }
  return ok();
}

// Level-triggered: whoever should have heard of a firing alert and has no row for it gets one (a
// new receiver, a restored backup).
Status Engine::Impl::heal_outbox(Timestamp now) {
  for (const auto& [key, episode] : book_.open()) {
    std::vector<OutboxRow> wanted = announcer_->rows({AlertStatus::firing, episode}, now);
    if (wanted.empty()) continue;
    auto known = store_->deliveries(episode.id);
    if (!known) return std::move(known).error();
    for (OutboxRow& row : wanted) {
      const bool there = std::ranges::any_of(*known, [&](const OutboxRow& other) {
        return other.receiver == row.receiver && other.status == AlertStatus::firing;
      });
      if (!there) record_.outbox.push_back(std::move(row));
    }
  }
  return ok();
}

}  // namespace outcomed
