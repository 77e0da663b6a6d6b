#include "daemon/runtime/watcher.h"

#include <algorithm>

#include "daemon/runtime/heartbeat.h"
#include "daemon/state_json.h"

namespace outcomed {
namespace {

// A source that failed is asked again after this long, sooner for short steps.
constexpr Duration kRetry = std::chrono::seconds(10);
constexpr int kTicksBetweenPrunes = 10;
constexpr Duration kLongestCatchUp = std::chrono::seconds(20);
// However long the steps are: our own alerts, the heartbeat and the service manager wait for ticks.
constexpr Duration kLongestPause = std::chrono::minutes(1);

// poll() of a source that scrapes by itself, in a thread of its own: a page that hangs is a gap of
// that source alone. What came is taken in where no tick uses the source, else by the next tick.
class Poller {
 public:
  Poller(const std::string& name, const std::shared_ptr<Source>& source, std::timed_mutex& gate,
         Clock& clock, Observer& observer)
      : thread_([=, &gate, &clock, &observer](const std::stop_token& stop) {
          SteadyTime next = clock.steady_now();
          while (!stop.stop_requested()) {
            const SteadyTime began = clock.steady_now();
            const Status result = source->poll(clock.now());
            if (const std::unique_lock lock(gate, std::try_to_lock); lock) source->take_in();
            observer.polled(name, result,
                            std::chrono::duration_cast<Duration>(clock.steady_now() - began));
            // On the grid, so that intervals don't drift; what was missed is not made up.
            while (next <= clock.steady_now()) next += *source->poll_interval();
            if (!clock.sleep_until(next, stop)) return;
          }
        }) {}

 private:
  std::jthread thread_;
};

}  // namespace

struct Watcher::Running {
  std::unique_ptr<Engine> engine;
  std::shared_ptr<const Announcer> announcer;
  std::unique_ptr<Deliveries> deliveries;
  std::vector<std::pair<Duration, Duration>> paces;  // Step and delay of each source.
  std::vector<std::pair<std::string, std::shared_ptr<Source>>> polled;
  std::vector<std::unique_ptr<Poller>> pollers;
  std::unique_ptr<Heartbeat> heartbeat;  // Null without one.
  Duration longest_pause = kLongestPause;
  [[nodiscard]] Duration shortest_step() const {
    const auto found = std::ranges::min_element(paces);
    return found == paces.end() ? kLongestPause : found->first;
  }
  bool failing = false;
  bool behind = false;
  int ticks = 0;
};

Watcher::Watcher(World world) : world_(std::move(world)) {}
Watcher::~Watcher() = default;

Status Watcher::load(LoadedConfig loaded) {
  Clock& clock = world_.clock;
  auto assembly = assemble(loaded.config, {world_.http, world_.receiver_http}, world_.secrets,
                           [&clock] { return clock.now(); });
  if (!assembly) return std::move(assembly).error();
  auto next = std::make_unique<Running>();
  next->announcer = assembly->announcer;
  for (const SourceUnit& unit : assembly->sources) {
    next->paces.emplace_back(unit.plans.front().step, unit.delay);
    if (unit.source->poll_interval()) next->polled.emplace_back(unit.name, unit.source);
  }
  next->deliveries =
      std::make_unique<Deliveries>(*assembly, world_.store, clock, world_.jitter, world_.observer);
  if (!loaded.config.heartbeat.url.empty()) {
    next->heartbeat = std::make_unique<Heartbeat>(loaded.config.heartbeat, world_.receiver_http,
                                                  clock, world_.observer);
    next->longest_pause = std::min(kLongestPause, loaded.config.heartbeat.every);
  }
  EngineSettings settings;
  settings.config_hash = loaded.hash;
  settings.longest_catch_up = kLongestCatchUp;
  next->engine = std::make_unique<Engine>(std::move(assembly->sources), std::move(assembly->rules),
                                          assembly->announcer, settings, world_.store,
                                          [&clock] { return clock.steady_now(); });
  // What runs must not write while the next engine reads.
  if (running_ != nullptr) {
    running_->pollers.clear();
    running_->deliveries->stop();
  }
  Status status = next->engine->restore(clock.now());
  if (status) status = world_.store.remember_config(loaded.hash, loaded.text, clock.now());
  const std::lock_guard lock(engine_mutex_);
  if (status) running_ = std::move(next);
  if (running_ == nullptr) return status;
  if (!status) running_->deliveries->start();
  for (const auto& [name, source] : running_->polled) {
    running_->pollers.push_back(
        std::make_unique<Poller>(name, source, engine_mutex_, clock, world_.observer));
  }
  return status;
}

// When the next step of some source can be judged; while one fails, soon again.
Timestamp Watcher::next_due() const {
  const auto marks = running_->engine->watermarks();
  Timestamp due = world_.clock.now() + running_->longest_pause;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const auto [step, delay] = running_->paces[i];
    due = std::min(due, marks[i].second + step + delay);
  }
  if (!running_->failing) return due;
  return std::max(due, world_.clock.now() + std::min(kRetry, running_->shortest_step()));
}

void Watcher::publish() {
  auto fresh = std::make_shared<Snapshot>();
  StateJson state = state_json(*running_->engine, *running_->announcer);
  fresh->alerts = std::move(state.alerts);
  fresh->rules = std::move(state.rules);
  const std::lock_guard lock(snapshot_mutex_);
  snapshot_ = std::move(fresh);
}

TickReport Watcher::tick(Timestamp due) {
  const SteadyTime began = world_.clock.steady_now();
  const Timestamp now = world_.clock.now();
  TickReport report;
  {
    const std::lock_guard lock(engine_mutex_);
    report = running_->engine->tick(now);
    publish();
  }
  running_->behind = std::ranges::any_of(report.sources, &SourceReport::behind);
  running_->failing = std::ranges::any_of(
      report.sources, [](const SourceReport& source) { return source.error.has_value(); });
  TickTiming timing;
  timing.took = std::chrono::duration_cast<Duration>(world_.clock.steady_now() - began);
  if (due != Timestamp{}) {
    timing.late = std::max(Duration::zero(), now - due);
    timing.missed = static_cast<std::uint64_t>(timing.late / running_->shortest_step());
  }
  if (report.news) running_->deliveries->wake();
  world_.observer.ticked(report, timing, *running_->engine);
  if (running_->heartbeat && report.commit && !running_->failing &&
      running_->deliveries->all_told()) {
    running_->heartbeat->beat();
  }
  if (++running_->ticks % kTicksBetweenPrunes == 0) {
    if (const Status pruned = world_.store.prune(now); !pruned) {
      world_.observer.store_failed("prune", pruned.error());
    }
  }
  return report;
}

void Watcher::config_broken(std::string reason) {
  const std::lock_guard lock(engine_mutex_);
  if (running_ != nullptr) running_->engine->config_broken(std::move(reason));
}

bool Watcher::run_once() {
  // What was seen by the run before is the beginning of what is judged now.
  running_->pollers.clear();
  for (const auto& [name, source] : running_->polled) {
    const SteadyTime began = world_.clock.steady_now();
    const Status result = source->poll(world_.clock.now());
    world_.observer.polled(name, result,
                           std::chrono::duration_cast<Duration>(world_.clock.steady_now() - began));
    if (!result) running_->failing = true;
  }
  const bool polled = !running_->failing;
  TickReport last;
  do {
    last = tick({});
  } while (running_->behind && !running_->failing);
  for (const SourceReport& source : last.sources) {
    const std::string gaps = source.coverage.to_text();
    if (!gaps.empty()) world_.observer.incomplete(source.source, gaps);
  }
  if (!polled) running_->failing = true;
  return !running_->failing && running_->deliveries->run_once();
}

void Watcher::run(const std::stop_token& stop, const std::function<void()>& before_tick,
                  const std::function<void()>& after_tick) {
  running_->deliveries->start();
  Timestamp due{};
  while (!stop.stop_requested()) {
    Running* const before = running_.get();
    before_tick();
    if (stop.stop_requested()) break;
    if (running_.get() != before) {
      running_->deliveries->start();
      due = {};
    }
    const Timestamp now = world_.clock.now();
    if (due != Timestamp{} && now < due) {
      // Woken early, or the wall clock went back.
      wakeup_.wait_for(std::min<Duration>(due - now, std::chrono::minutes(1)), stop);
      continue;
    }
    tick(due);
    after_tick();
    due = running_->behind ? Timestamp{} : next_due();
  }
  running_->pollers.clear();
  running_->deliveries->stop();
}

std::shared_ptr<const Snapshot> Watcher::snapshot() const {
  const std::lock_guard lock(snapshot_mutex_);
  return snapshot_;
}

std::optional<std::string> Watcher::explain(const std::string& rule, const Matchers& matchers,
                                            Duration patience) {
  const std::unique_lock lock(engine_mutex_, patience);
  if (!lock.owns_lock() || running_ == nullptr) return std::nullopt;
  return explain_json(*running_->engine, rule, matchers);
}

}  // namespace outcomed
