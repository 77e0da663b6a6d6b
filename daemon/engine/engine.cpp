#include "daemon/engine/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <thread>
#include <unordered_map>

#include "daemon/engine/bucket_codec.h"
#include "daemon/engine/chunk_length.h"

namespace outcomed {
namespace {

// Where the buckets of a signal lie in the store. Other labels or another step make another
// history.
std::string storage_name(const SignalPlan& plan) {
  Labels shape;
  for (const std::string& label : plan.labels) shape.set("n " + label, "1");
  for (const std::string& label : plan.failure_labels) shape.set("k " + label, "1");
  shape.set("step", format_duration(plan.step));
  return fmt::format("{}#{:08x}", plan.name, shape.fingerprint() & 0xffffffffU);
}

Problem too_many_groups(const RuleRunner& runner) {
  return {
      "too_many_groups", runner.spec().name,
      fmt::format("{} label sets beyond the most groups a rule may have are not judged; split by "
                  "fewer labels or filter with matchers",
                  runner.refused_groups())};
}

Labels row_labels(const RuleSpec* rule) { return rule == nullptr ? Labels{} : rule->labels; }

}  // namespace

class Engine::Impl {
 public:
  Impl(std::vector<SourceUnit> sources, std::vector<RuleSpec> rules,
       std::shared_ptr<const Announcer> announcer, EngineSettings settings, Store& store,
       Stopwatch steady_now);

  Status restore(Timestamp now);
  TickReport tick(Timestamp now);
  Status replay(TimeRange range, const std::function<void(double)>& progress);

  struct Bound {  // A rule on the signal of its unit.
    std::size_t plan = 0;
    std::unique_ptr<RuleRunner> runner;
  };
  struct Unit {
    SourceUnit spec;
    std::vector<std::string> storage;  // storage_name of each plan.
    std::vector<std::size_t> stored_cells;
    std::vector<Bound> rules;
    SourceWatch watch;
    Timestamp watermark;
    Timestamp judge_from;  // Buckets before this only move memories.
    ChunkLength chunk;
    std::optional<SourceHealth> health;
    std::vector<std::string> facts;
    bool moved = false;
  };

  std::vector<RuleSpec> rules_;
  std::vector<Unit> units_;
  std::unordered_map<std::string, const RuleRunner*> runners_;  // By the name of their rule.
  EpisodeBook book_;
  std::vector<Episode> replayed_;
  std::vector<Problem> replay_problems_;
  std::uint64_t folded_ = 0;

 private:
  Duration step_of(const Unit& unit) const { return unit.spec.plans.front().step; }
  Duration reach_of(const Unit& unit) const;
  Status restore_unit(Unit& unit, const std::vector<SourceRow>& rows,
                      const std::vector<CellRow>& cells, Timestamp now);
  Status fold_stored(Unit& unit);
  Status restore_alerts(Timestamp now);
  bool restore_alert(const AlertState& state);
  Status heal_outbox(Timestamp now);

  std::optional<TimeRange> next_range(const Unit& unit, Timestamp target) const;
  void run_unit(Unit& unit, Timestamp target, std::optional<Result<Fetch>> first,
                SourceReport& report);
  void fold(Unit& unit, Fetch& fetch);
  void record(Unit& unit, const Fetch& fetch);
  void apply(const RuleEvent& event, const RuleSpec* rule, const Unit& unit);
  void judge_health(Unit& unit, const SourceReport& report, Timestamp now);
  std::string memory_of(const Unit& unit) const;
  void collect(TickReport& report, Timestamp now);

  std::shared_ptr<const Announcer> announcer_;
  EngineSettings settings_;
  Store* store_;
  Stopwatch steady_now_;
  TickRecord record_;  // Grows during a tick; kept when the commit fails, so nothing is lost.
};

Engine::Impl::Impl(std::vector<SourceUnit> sources, std::vector<RuleSpec> rules,
                   std::shared_ptr<const Announcer> announcer, EngineSettings settings,
                   Store& store, Stopwatch steady_now)
    : rules_(std::move(rules)),
      announcer_(std::move(announcer)),
      settings_(std::move(settings)),
      store_(&store),
      steady_now_(std::move(steady_now)) {
  for (SourceUnit& source : sources) {
    std::vector<std::string> blinds;
    for (const RuleSpec& rule : rules_) {
      if (std::ranges::find(source.plans, rule.signal, &SignalPlan::name) != source.plans.end()) {
        blinds.push_back(rule.name);
      }
    }
    SourceWatch watch(source.name, std::move(blinds), settings_.source_down_after);
    units_.push_back({std::move(source),
                      {},
                      {},
                      {},
                      std::move(watch),
                      {},
                      {},
                      ChunkLength(settings_.chunk_values),
                      {},
                      {},
                      false});
  }
  for (Unit& unit : units_) {
    for (std::size_t i = 0; i < unit.spec.plans.size(); ++i) {
      unit.storage.push_back(storage_name(unit.spec.plans[i]));
      for (const RuleSpec& rule : rules_) {
        if (rule.signal != unit.spec.plans[i].name) continue;
        unit.rules.push_back({i, std::make_unique<RuleRunner>(rule, unit.spec.plans[i])});
        runners_.emplace(rule.name, unit.rules.back().runner.get());
      }
    }
    unit.stored_cells.resize(unit.spec.plans.size(), 0);
  }
}

Duration Engine::Impl::reach_of(const Unit& unit) const {
  Duration reach{};
  for (const Bound& bound : unit.rules) {
    reach = std::max(reach, bound.runner->spec().detector->reach());
  }
  return reach;
}

// ---- restore -----------------------------------------------------------------------------------

Status Engine::Impl::restore(Timestamp now) {
  auto rows = store_->sources();
  if (!rows) return std::move(rows).error();
  auto cells = store_->cells();
  if (!cells) return std::move(cells).error();
  for (Unit& unit : units_) {
    if (const Status status = restore_unit(unit, *rows, *cells, now); !status) return status;
  }
  auto open = store_->current_episodes(Timestamp::max());
  if (!open) return std::move(open).error();
  book_.restore(*std::move(open));
  book_.begin_tick();
  if (const Status status = restore_alerts(now); !status) return status;
  return heal_outbox(now);
}

Status Engine::Impl::restore_unit(Unit& unit, const std::vector<SourceRow>& rows,
                                  const std::vector<CellRow>& cells, Timestamp now) {
  const Timestamp horizon = floor_to(now - unit.spec.delay, step_of(unit));
  unit.watermark = floor_to(horizon - reach_of(unit), step_of(unit));
  unit.judge_from = unit.watermark;
  const auto row = std::ranges::find(rows, unit.spec.name, &SourceRow::source);
  if (row == rows.end()) return ok();

  Reader reader(row->memory);
  bool same = reader.u64() == unit.storage.size();
  for (const std::string& name : unit.storage) same = same && reader.text() == name;
  if (!same) {  // Other signals or labels: the past is read anew, alerts go on where they were.
    unit.judge_from = row->watermark;
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
  unit.judge_from = row->watermark;
  return fold_stored(unit);
}

Status Engine::Impl::fold_stored(Unit& unit) {
  const TimeRange past{unit.watermark - reach_of(unit), unit.watermark};
  std::vector<RuleEvent> none;
  for (std::size_t i = 0; i < unit.spec.plans.size(); ++i) {
    const std::vector<Labels>& cells = unit.spec.source->cells(i);
    auto rows = store_->buckets(unit.storage[i], past);
    if (!rows) return std::move(rows).error();
    SignalBatch batch;
    Timestamp expected = past.begin;
    for (const BucketRow& row : *rows) {
      if (!unpack(row, cells.size(), batch)) {
        return Error{ErrorKind::corrupt, fmt::format("buckets of {} at {} can't be read",
                                                     unit.storage[i], format_rfc3339(row.start))};
      }
      for (const Bound& bound : unit.rules) {
        if (bound.plan == i) bound.runner->advance(batch, cells, Timestamp::max(), none);
      }
      expected = row.start + row.length;
    }
  }
  return ok();
}

bool Engine::Impl::restore_alert(const AlertState& state) {
  std::vector<RuleEvent> events;
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

// ---- tick --------------------------------------------------------------------------------------

std::optional<TimeRange> Engine::Impl::next_range(const Unit& unit, Timestamp target) const {
  if (unit.watermark >= target) return std::nullopt;
  return TimeRange{unit.watermark,
                   std::min(target, unit.watermark + unit.chunk.next(step_of(unit)))};
}

void Engine::Impl::apply(const RuleEvent& event, const RuleSpec* rule, const Unit& unit) {
  RuleEvent full = event;
  if (full.verdict) {
    for (const std::string& fact : unit.facts) full.verdict->facts.emplace_back("counting", fact);
  }
  book_.apply(full, row_labels(rule), settings_.config_hash);
}

// Rules are folded one after the other; their events go into the book in order of time.
void Engine::Impl::fold(Unit& unit, Fetch& fetch) {
  unit.chunk.learn(fetch);
  unit.facts = std::move(fetch.facts);
  struct Happened {
    RuleEvent event;
    const RuleSpec* rule;
  };
  std::vector<Happened> happened;
  std::vector<RuleEvent> events;
  for (const Bound& bound : unit.rules) {
    events.clear();
    bound.runner->advance(fetch.batches[bound.plan], unit.spec.source->cells(bound.plan),
                          unit.judge_from, events);
    for (RuleEvent& event : events) {
      happened.push_back({std::move(event), &bound.runner->spec()});
    }
  }
  std::ranges::stable_sort(happened, {}, [](const Happened& h) { return h.event.transition.at; });
  for (const Happened& h : happened) apply(h.event, h.rule, unit);
  for (const SignalBatch& batch : fetch.batches) folded_ += batch.steps();
  for (const Bound& bound : unit.rules) {
    if (bound.runner->refused_groups() > 0) {
      fetch.problems.push_back(too_many_groups(*bound.runner));
    }
  }
}

// What the store must learn of a fetch.
void Engine::Impl::record(Unit& unit, const Fetch& fetch) {
  for (std::size_t i = 0; i < fetch.batches.size(); ++i) {
    const std::vector<Labels>& cells = unit.spec.source->cells(i);
    for (std::size_t id = unit.stored_cells[i]; id < cells.size(); ++id) {
      record_.cells.push_back({unit.storage[i], static_cast<std::uint32_t>(id), cells[id]});
    }
    unit.stored_cells[i] = cells.size();
    for (std::size_t step = 0; step < fetch.batches[i].steps(); ++step) {
      record_.buckets.push_back(pack(fetch.batches[i], step, unit.storage[i]));
    }
  }
}

void Engine::Impl::run_unit(Unit& unit, Timestamp target, std::optional<Result<Fetch>> first,
                            SourceReport& report) {
  report.folded.begin = unit.watermark;
  while (const auto range = next_range(unit, target)) {
    Result<Fetch> fetched =
        first ? *std::exchange(first, std::nullopt) : unit.spec.source->fetch(*range);
    if (!fetched) {
      report.error = std::move(fetched).error();
      break;
    }
    const std::vector<Coverage>& coverage = fetched->batches.front().coverage;
    const Coverage newest = coverage.empty() ? Coverage::missing : coverage.back();
    unit.health =
        SourceHealth{newest == Coverage::complete, "no scrape of the gateway in its data"};
    if (newest == Coverage::failed && !fetched->problems.empty()) {
      unit.health->reason = fetched->problems.front().message;
    }
    fold(unit, *fetched);
    record(unit, *fetched);
    for (Problem& problem : fetched->problems) report.problems.push_back(std::move(problem));
    report.buckets += fetched->batches.size() * coverage.size();
    unit.watermark = range->end;
    unit.moved = true;
  }
  report.folded.end = unit.watermark;
}

void Engine::Impl::judge_health(Unit& unit, const SourceReport& report, Timestamp now) {
  if (report.error) unit.health = SourceHealth{false, report.error->message};
  if (!unit.health) return;
  const auto event = unit.watch.judge(*unit.health, floor_to(now, Duration(1000)));
  if (unit.watch.state().phase != Phase::inactive || event) {
    record_.alerts.push_back(unit.watch.state());
  }
  if (event) book_.apply(*event, {}, settings_.config_hash);
}

std::string Engine::Impl::memory_of(const Unit& unit) const {
  Writer writer;
  writer.u64(unit.storage.size());
  for (const std::string& name : unit.storage) writer.text(name);
  Writer inner;
  unit.spec.source->save(inner);
  writer.text(inner.bytes());
  return writer.take();
}

void Engine::Impl::collect(TickReport& report, Timestamp now) {
  for (Unit& unit : units_) {
    for (const Bound& bound : unit.rules) {
      for (AlertState& state : bound.runner->take_changed()) {
        record_.alerts.push_back(std::move(state));
      }
    }
    if (!unit.moved) continue;
    record_.sources.push_back({unit.spec.name, unit.watermark, memory_of(unit)});
    unit.moved = false;
  }
  report.episodes = book_.changed();
  record_.episodes.insert(record_.episodes.end(), report.episodes.begin(), report.episodes.end());
  for (const News& news : book_.news()) {
    for (OutboxRow& row : announcer_->rows(news, now)) record_.outbox.push_back(std::move(row));
    report.news = true;
  }
  report.commit = store_->commit(record_);
  // A record that could not be written is written with the next one: the state in memory is true.
  if (report.commit) record_ = {};
  book_.begin_tick();
}

TickReport Engine::Impl::tick(Timestamp now) {
  TickReport report;
  report.sources.resize(units_.size());
  std::vector<Timestamp> targets;
  std::vector<std::optional<Result<Fetch>>> first(units_.size());
  {
    std::vector<std::jthread> fetchers;  // Joined at the end of this block.
    for (std::size_t i = 0; i < units_.size(); ++i) {
      targets.push_back(floor_to(now - units_[i].spec.delay, step_of(units_[i])));
      const auto range = next_range(units_[i], targets[i]);
      if (!range) continue;
      const auto fetch = [this, &first, &report, i, range = *range] {
        const auto began = steady_now_();
        first[i] = units_[i].spec.source->fetch(range);
        report.sources[i].fetch_time = std::chrono::duration_cast<Duration>(steady_now_() - began);
      };
      if (i + 1 < units_.size()) {
        fetchers.emplace_back(fetch);
      } else {
        fetch();
      }
    }
  }
  for (std::size_t i = 0; i < units_.size(); ++i) {
    report.sources[i].source = units_[i].spec.name;
    run_unit(units_[i], targets[i], std::move(first[i]), report.sources[i]);
    judge_health(units_[i], report.sources[i], now);
  }
  collect(report, now);
  return report;
}

Status Engine::Impl::replay(TimeRange range, const std::function<void(double)>& progress) {
  for (Unit& unit : units_) {
    unit.watermark = floor_to(range.begin, step_of(unit));
    unit.judge_from = unit.watermark;
    Timestamp end = floor_to(range.end, step_of(unit));
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
      progress(double((unit.watermark - range.begin).count()) /
               double((end - range.begin).count()));
    }
  }
  replayed_ = book_.changed();
  std::ranges::stable_sort(replayed_, {}, &Episode::fired_at);
  return ok();
}

// ---- the public face
// -----------------------------------------------------------------------------

Engine::Engine(std::vector<SourceUnit> sources, std::vector<RuleSpec> rules,
               std::shared_ptr<const Announcer> announcer, EngineSettings settings, Store& store,
               Stopwatch steady_now)
    : impl_(std::make_unique<Impl>(std::move(sources), std::move(rules), std::move(announcer),
                                   std::move(settings), store, std::move(steady_now))) {}
Engine::~Engine() = default;

Status Engine::restore(Timestamp now) { return impl_->restore(now); }
TickReport Engine::tick(Timestamp now) { return impl_->tick(now); }
Status Engine::replay(TimeRange range, const std::function<void(double)>& progress) {
  return impl_->replay(range, progress);
}

std::vector<RuleRunner::GroupView> Engine::groups(const std::string& rule) const {
  const auto found = impl_->runners_.find(rule);
  return found == impl_->runners_.end() ? std::vector<RuleRunner::GroupView>{}
                                        : found->second->groups();
}

std::vector<RuleRunner::GroupView> Engine::active(const std::string& rule) const {
  const auto found = impl_->runners_.find(rule);
  return found == impl_->runners_.end() ? std::vector<RuleRunner::GroupView>{}
                                        : found->second->active();
}

const std::vector<RuleSpec>& Engine::rules() const { return impl_->rules_; }
const std::map<AlertKey, Episode>& Engine::open_episodes() const { return impl_->book_.open(); }
const std::vector<Episode>& Engine::replayed() const { return impl_->replayed_; }
std::uint64_t Engine::folded_buckets() const { return impl_->folded_; }
const std::vector<Problem>& Engine::replay_problems() const { return impl_->replay_problems_; }

std::vector<std::pair<std::string, Timestamp>> Engine::watermarks() const {
  std::vector<std::pair<std::string, Timestamp>> marks;
  for (const auto& unit : impl_->units_) marks.emplace_back(unit.spec.name, unit.watermark);
  return marks;
}

std::vector<std::string> Engine::facts(const std::string& signal) const {
  for (const auto& unit : impl_->units_) {
    if (std::ranges::find(unit.spec.plans, signal, &SignalPlan::name) != unit.spec.plans.end()) {
      return unit.facts;
    }
  }
  return {};
}

}  // namespace outcomed
