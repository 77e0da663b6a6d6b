#include "daemon/engine/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "daemon/engine/bucket_codec.h"
#include "daemon/engine/engine_impl.h"

namespace outcomed {
namespace {

// Where the buckets of a signal lie in the store. Other labels or another step make another
// history.
std::string storage_name(const SignalPlan& plan) {
  Labels shape;
  for (const std::string& label : plan.labels) shape.set("n " + label, "1");
  for (const std::string& label : plan.failure_labels) shape.set("k " + label, "1");
  shape.set("step", format_duration(plan.step));
  if (plan.anchor != Duration::zero()) shape.set("anchor", format_duration(plan.anchor));
  return fmt::format("{}#{:08x}", plan.name, shape.fingerprint() & 0xffffffffU);
}

Problem too_many_groups(const RuleRunner& runner) {
  return {
      "too_many_groups", runner.spec().name,
      fmt::format("{} label sets beyond the most groups a rule may have are not judged; split by "
                  "fewer labels or filter with matchers",
                  runner.refused_groups())};
}

constexpr Duration kSnapshotEvery = std::chrono::hours(1);

Labels row_labels(const RuleSpec* rule) { return rule == nullptr ? Labels{} : rule->labels; }

}  // namespace

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
                      ChunkLength(settings_.chunk_values),
                      {},
                      {},
                      {},
                      {},
                      false});
  }
  for (Unit& unit : units_) {
    for (std::size_t i = 0; i < unit.spec.plans.size(); ++i) {
      unit.storage.push_back(storage_name(unit.spec.plans[i]));
      for (const RuleSpec& rule : rules_) {
        if (rule.signal != unit.spec.plans[i].name) continue;
        unit.rules.push_back(
            {i, std::make_unique<RuleRunner>(rule, unit.spec.plans[i]), {}, std::nullopt});
        runners_.emplace(rule.name, unit.rules.back().runner.get());
      }
    }
    unit.stored_cells.resize(unit.spec.plans.size(), 0);
  }
  make_pairs();
}

Duration Engine::Impl::reach_of(const Unit& unit) const {
  Duration reach{};
  for (const Bound& bound : unit.rules) {
    reach = std::max(reach, bound.runner->spec().detector->reach());
  }
  return reach;
}

std::optional<TimeRange> Engine::Impl::next_range(const Unit& unit, Timestamp target) const {
  if (unit.watermark >= target) return std::nullopt;
  return TimeRange{unit.watermark,
                   std::min(target, unit.watermark + unit.chunk.next(step_of(unit)))};
}

void Engine::Impl::apply(const RuleEvent& event, const RuleSpec* rule, const Unit& unit) {
  RuleEvent full = event;
  if (full.verdict) {
    for (const std::string& fact : unit.facts) full.verdict->facts.emplace_back("counting", fact);
    if (rule != nullptr) add_evidence(unit, *rule, full);
  }
  book_.apply(full, row_labels(rule), settings_.config_hash);
}

// Steps before those judged only teach: they are not counted.
void Engine::Impl::count_coverage(Unit& unit, const SignalBatch& batch) {
  Timestamp judged = Timestamp::max();
  for (const Bound& bound : unit.rules) judged = std::min(judged, bound.judge_from);
  for (std::size_t i = 0; i < batch.steps(); ++i) {
    const Timestamp start = batch.range.begin + batch.step * static_cast<std::int64_t>(i);
    if (start < judged) continue;
    CoverageCount& count = unit.coverage;
    ++count.steps;
    if (batch.coverage[i] == Coverage::complete) continue;
    if (count.incomplete++ == 0) count.first = start;
    count.last = start;
  }
}

// Rules are folded one after the other; their events go into the book in order of time.
void Engine::Impl::fold(Unit& unit, Fetch& fetch) {
  unit.chunk.learn(fetch);
  unit.facts = std::move(fetch.facts);
  keep_evidence(unit, std::move(fetch.evidence));
  struct Happened {
    RuleEvent event;
    const RuleSpec* rule;
  };
  std::vector<Happened> happened;
  std::vector<RuleEvent> events;
  for (const Bound& bound : unit.rules) {
    events.clear();
    bound.runner->advance(fetch.batches[bound.plan], unit.spec.source->cells(bound.plan),
                          bound.judge_from, events);
    for (RuleEvent& event : events) {
      happened.push_back({std::move(event), &bound.runner->spec()});
    }
  }
  std::ranges::stable_sort(happened, {}, [](const Happened& h) { return h.event.transition.at; });
  for (const Happened& h : happened) apply(h.event, h.rule, unit);
  feed_pairs(unit, fetch);
  for (const SignalBatch& batch : fetch.batches) {
    if (batch.range.end <= judged_from_) continue;
    const Timestamp from = std::max(batch.range.begin, judged_from_);
    folded_ += static_cast<std::uint64_t>((batch.range.end - from) / batch.step);
  }
  if (!fetch.batches.empty()) count_coverage(unit, fetch.batches.front());
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
    // Before anything was ever seen there is nothing to remember: a first start reads weeks.
    if (cells.empty()) continue;
    for (std::size_t step = 0; step < fetch.batches[i].steps(); ++step) {
      record_.buckets.push_back(pack(fetch.batches[i], step, unit.storage[i]));
    }
  }
}

void Engine::Impl::run_unit(Unit& unit, Timestamp target, std::optional<Result<Fetch>> first,
                            SourceReport& report) {
  report.folded.begin = unit.watermark;
  unit.coverage = {};
  const auto began = steady_now_();
  while (const auto range = next_range(unit, target)) {
    // What was read so far is committed; the next tick goes on at once.
    if (steady_now_() - began > settings_.longest_catch_up) {
      report.behind = true;
      break;
    }
    Result<Fetch> fetched =
        first ? *std::exchange(first, std::nullopt) : unit.spec.source->fetch(*range);
    if (!fetched) {
      report.error = std::move(fetched).error();
      break;
    }
    const std::vector<Coverage>& coverage = fetched->batches.front().coverage;
    const Coverage newest = coverage.empty() ? Coverage::missing : coverage.back();
    if (range->end >= target) {  // Old gaps are no news.
      unit.health =
          SourceHealth{newest == Coverage::complete, "no scrape of the gateway in its data"};
      if (newest == Coverage::failed && !fetched->problems.empty()) {
        unit.health->reason = fetched->problems.front().message;
      }
    }
    fold(unit, *fetched);
    record(unit, *fetched);
    for (Problem& problem : fetched->problems) report.problems.push_back(std::move(problem));
    report.buckets += fetched->batches.size() * coverage.size();
    unit.watermark = range->end;
    unit.moved = true;
  }
  report.folded.end = unit.watermark;
  report.coverage = unit.coverage;
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

void Engine::Impl::judge_all_from(Unit& unit, Timestamp from) {
  for (Bound& bound : unit.rules) bound.judge_from = from;
}

// Now and then is enough: the buckets since then make the folds what they were.
void Engine::Impl::add_snapshots(Unit& unit) {
  for (Bound& bound : unit.rules) {
    const RuleSpec& rule = bound.runner->spec();
    if (!rule.detector->long_memory()) continue;
    if (bound.saved_at && floor_to(unit.watermark, kSnapshotEvery) <= *bound.saved_at) continue;
    Writer folds;
    bound.runner->save(folds);
    record_.snapshots.push_back({rule.name, rule.identity, unit.watermark, folds.take()});
    bound.saved_at = unit.watermark;
  }
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

void Engine::Impl::judge_own(Timestamp now) {
  if (config_watch_.silent()) return;
  const auto event = config_watch_.judge(floor_to(now, Duration(1000)));
  record_.alerts.push_back(config_watch_.state());
  if (event) book_.apply(*event, {}, settings_.config_hash);
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
    add_snapshots(unit);
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
      targets.push_back(floor_of(units_[i], now - units_[i].spec.delay));
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
  judge_pairs();
  judge_own(now);
  collect(report, now);
  return report;
}

Engine::Engine(std::vector<SourceUnit> sources, std::vector<RuleSpec> rules,
               std::shared_ptr<const Announcer> announcer, EngineSettings settings, Store& store,
               Stopwatch steady_now)
    : impl_(std::make_unique<Impl>(std::move(sources), std::move(rules), std::move(announcer),
                                   std::move(settings), store, std::move(steady_now))) {}
Engine::~Engine() = default;

Status Engine::restore(Timestamp now) { return impl_->restore(now); }
void Engine::config_broken(std::string reason) { impl_->config_watch_.set(std::move(reason)); }
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

const Engine::Impl::Unit* Engine::Impl::unit_of(const std::string& signal) const {
  const auto found = std::ranges::find_if(units_, [&](const Unit& unit) {
    return std::ranges::find(unit.spec.plans, signal, &SignalPlan::name) != unit.spec.plans.end();
  });
  return found == units_.end() ? nullptr : &*found;
}

std::vector<std::string> Engine::facts(const std::string& signal) const {
  const auto* unit = impl_->unit_of(signal);
  return unit == nullptr ? std::vector<std::string>{} : unit->facts;
}

std::string Engine::silence(const std::string& signal) const {
  const auto* unit = impl_->unit_of(signal);
  if (unit == nullptr || !unit->health || unit->health->answers) return {};
  return fmt::format("source {}: {}", unit->spec.name, unit->health->reason);
}

}  // namespace outcomed
