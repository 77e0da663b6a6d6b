// The one engine: fetch, fold, step, commit. The daemon runs it on the clock, `backtest` over a
// recording, tests on buckets they made; there is no second state machine.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "alerts/store.h"
#include "daemon/engine/announcer.h"
#include "daemon/engine/episode_book.h"
#include "daemon/engine/rule_runner.h"
#include "daemon/engine/source_watch.h"
#include "queries/source.h"

namespace outcomed {

// A source with the signals it answers; `plans` in the order the source was made with.
struct SourceUnit {
  std::string name;
  std::shared_ptr<Source> source;
  Duration delay{};
  std::vector<SignalPlan> plans;
};

struct EngineSettings {
  std::string config_hash;
  Duration source_down_after = std::chrono::minutes(5);
  // One fetch asks for about as many samples and counts (16 bytes each) at most, so that a long
  // catch-up stays bounded. More of them mean fewer requests.
  std::int64_t chunk_values = 500'000;
  // A tick ends when one source was read for this long, though it has more to tell: what was read
  // is committed, and whoever waits for the end of the tick (a stop, a watchdog) need not wait.
  Duration longest_catch_up = std::chrono::hours(24);
};

// Of how many steps a source had all data.
struct CoverageCount {
  std::uint64_t steps = 0;
  std::uint64_t incomplete = 0;
  Timestamp first;  // Start of the first incomplete one,
  Timestamp last;   // of the last.

  // "12 of 60 steps have no complete data (…): nothing is judged there"; empty when all is there.
  [[nodiscard]] std::string to_text() const;
};

// What one tick did, for metrics and logs.
struct SourceReport {
  std::string source;
  TimeRange folded;
  Duration fetch_time{};
  std::optional<Error> error;
  std::vector<Problem> problems;
  std::uint64_t buckets = 0;
  bool behind = false;     // There is more to read at once.
  CoverageCount coverage;  // Of the steps folded.
};

struct TickReport {
  std::vector<SourceReport> sources;
  std::vector<Episode> episodes;  // New and changed.
  Status commit = ok();
  bool news = false;  // Somebody must be told.
};

class Engine {
 public:
  // `steady_now` measures fetch times.
  using Stopwatch = std::function<std::chrono::steady_clock::time_point()>;
  Engine(std::vector<SourceUnit> sources, std::vector<RuleSpec> rules,
         std::shared_ptr<const Announcer> announcer, EngineSettings settings, Store& store,
         Stopwatch steady_now);
  ~Engine();

  // Loads what the store knows and folds the stored buckets: restart, reload. Without stored
  // buckets the sources are asked for the past (`now` − reach) as far as they have it.
  Status restore(Timestamp now);

  // Why the configuration on disk is not the one in force; empty: it is. Raises `config_broken`.
  void config_broken(std::string reason);

  // One round over every source: everything up to now − delay, then one commit.
  TickReport tick(Timestamp now);

  // Folds a span of one finite source: backtest. Nothing is told and nothing stored.
  Status replay(TimeRange range, const std::function<void(double share_done)>& progress);

  // Empty for a rule that isn't there. Views hold until the next tick.
  [[nodiscard]] std::vector<RuleRunner::GroupView> groups(const std::string& rule) const;
  [[nodiscard]] std::vector<RuleRunner::GroupView> active(const std::string& rule) const;
  [[nodiscard]] const std::vector<RuleSpec>& rules() const;
  [[nodiscard]] const std::map<AlertKey, Episode>& open_episodes() const;
  [[nodiscard]] std::vector<std::pair<std::string, Timestamp>> watermarks() const;
  [[nodiscard]] std::vector<std::string> facts(const std::string& signal) const;
  // Why the signal's source said nothing in the last tick, with its name; empty: it did.
  [[nodiscard]] std::string silence(const std::string& signal) const;
  [[nodiscard]] const std::vector<Episode>& replayed() const;
  [[nodiscard]] std::uint64_t folded_buckets() const;
  [[nodiscard]] const std::vector<Problem>& replay_problems() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace outcomed
