// The insides of Engine: engine.cpp ticks, restore.cpp begins where an earlier run stopped,
// pairs.cpp compares two sources.
#pragma once

#include <array>
#include <unordered_map>

#include "daemon/engine/chunk_length.h"
#include "daemon/engine/config_watch.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/pair_watch.h"

namespace outcomed {

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
    Timestamp judge_from;               // Buckets before this only move memories.
    std::optional<Timestamp> saved_at;  // Of the newest snapshot, for rules with long memories.
  };
  struct Unit {
    SourceUnit spec;
    std::vector<std::string> storage;  // storage_name of each plan.
    std::vector<std::size_t> stored_cells;
    std::vector<Bound> rules;
    SourceWatch watch;
    Timestamp watermark;
    ChunkLength chunk;
    std::optional<SourceHealth> health;
    std::vector<std::string> facts;
    std::vector<Evidence> evidence;  // The newest; in memory only.
    CoverageCount coverage;          // Of what was judged.
    bool moved = false;
  };

  struct PairPlace {
    std::size_t unit = 0;
    std::size_t plan = 0;
  };
  struct Pair {  // Two signals that ask the same; places by PairMember.
    PairWatch watch;
    std::array<PairPlace, 2> places;
  };

  // Null: no rule asks for this signal.
  [[nodiscard]] const Unit* unit_of(const std::string& signal) const;

  std::vector<RuleSpec> rules_;
  std::vector<Unit> units_;
  std::vector<Pair> pairs_;
  std::unordered_map<std::string, const RuleRunner*> runners_;  // By the name of their rule.
  ConfigWatch config_watch_;
  EpisodeBook book_;
  std::vector<Episode> replayed_;
  std::vector<Problem> replay_problems_;
  std::uint64_t folded_ = 0;
  Timestamp judged_from_{};  // In a replay: where the span begins, behind what only teaches.

 private:
  Duration step_of(const Unit& unit) const { return unit.spec.plans.front().step; }
  // The begin of the unit's step that holds `t`.
  Timestamp floor_of(const Unit& unit, Timestamp t) const {
    return begin_of_step(unit.spec.plans.front(), t);
  }
  Duration reach_of(const Unit& unit) const;
  void judge_all_from(Unit& unit, Timestamp from);
  void add_snapshots(Unit& unit);
  Status restore_unit(Unit& unit, const std::vector<SourceRow>& rows,
                      const std::vector<CellRow>& cells, Timestamp now);
  Status restore_snapshots();
  Timestamp first_unknown(const Unit& unit, const Bound& bound) const;
  Status fold_stored(Unit& unit);
  Status restore_alerts(Timestamp now);
  bool restore_alert(const AlertState& state);
  Status heal_outbox(Timestamp now);

  std::optional<TimeRange> next_range(const Unit& unit, Timestamp target) const;
  void run_unit(Unit& unit, Timestamp target, std::optional<Result<Fetch>> first,
                SourceReport& report);
  void fold(Unit& unit, Fetch& fetch);
  static void keep_evidence(Unit& unit, std::vector<Evidence> fresh);
  static void add_evidence(const Unit& unit, const RuleSpec& rule, RuleEvent& event);
  void record(Unit& unit, const Fetch& fetch);
  void apply(const RuleEvent& event, const RuleSpec* rule, const Unit& unit);
  void judge_own(Timestamp now);
  void make_pairs();
  void feed_pairs(const Unit& unit, const Fetch& fetch);
  void judge_pairs();
  Status restore_pairs(const std::vector<SourceRow>& rows, Timestamp now);
  Status restore_side(Pair& pair, PairMember side, Timestamp from);
  static void count_coverage(Unit& unit, const SignalBatch& batch);
  void judge_health(Unit& unit, const SourceReport& report, Timestamp now);
  std::string memory_of(const Unit& unit) const;
  void collect(TickReport& report, Timestamp now);

  std::shared_ptr<const Announcer> announcer_;
  EngineSettings settings_;
  Store* store_;
  Stopwatch steady_now_;
  TickRecord record_;  // Grows during a tick; kept when the commit fails, so nothing is lost.
};

}  // namespace outcomed
