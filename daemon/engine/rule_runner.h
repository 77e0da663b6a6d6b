// One rule at work: cells of a signal -> groups -> folds -> alert states. No I/O, no clock.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "alerts/lifecycle.h"
#include "detectors/detector.h"
#include "queries/source.h"

namespace outcomed {

struct RuleSpec {
  std::string name;
  std::string kind;
  std::string signal;
  std::vector<std::string> by;
  Matchers matchers;
  Labels labels;
  Labels annotations;
  Duration keep_firing{};
  std::string identity;  // What the folds' memories depend on: a rule with another starts anew.
  std::shared_ptr<const Detector> detector;
};

// A phase that changed, with what the detector says at that moment.
struct RuleEvent {
  AlertState state;  // After the change.
  Transition transition;
  std::size_t tier = 0;
  std::optional<Verdict> verdict;
};

class RuleRunner {
 public:
  // `plan` gives the labels in use and the neutral failure classes; both outlive the runner.
  RuleRunner(const RuleSpec& spec, const SignalPlan& plan);
  ~RuleRunner();

  // Folds every step of the batch, group by group, so that one group's memory is at hand for all of
  // them: the events come by group, each group's in time order. `cells` are the label sets of the
  // batch's cells. Buckets that end at `judge_from` or before only move the memories (history
  // before the watch), no alert.
  void advance(const SignalBatch& batch, const std::vector<Labels>& cells, Timestamp judge_from,
               std::vector<RuleEvent>& events);

  // Restores an alert; false when this rule has no such tier. Makes the group where it is missing.
  bool restore(const AlertState& state, std::vector<RuleEvent>& events, Timestamp at);

  // The folds of all groups, for a snapshot; `at` is the end of the last bucket folded. Buckets
  // that end at `at` or before are skipped by a runner that loaded it. load() into a fresh runner
  // only; false: unreadable, the runner is to be thrown away.
  void save(Writer& writer) const;
  bool load(Reader& reader, Timestamp at);

  struct GroupView {
    const Labels& labels;
    std::size_t tier = 0;
    const AlertState* state = nullptr;
    const Fold* fold = nullptr;
  };
  // Every group and tier, in the order of their labels. Views hold until the next advance().
  [[nodiscard]] std::vector<GroupView> groups() const;
  // Only those that are pending or firing: what every tick asks for, and mostly none.
  [[nodiscard]] std::vector<GroupView> active() const;
  [[nodiscard]] const RuleSpec& spec() const { return *spec_; }
  // Alerts that were not inactive or changed since the last call: what the store must know.
  std::vector<AlertState> take_changed();
  // Groups refused because the rule has too many; 0 in a healthy system.
  [[nodiscard]] std::uint64_t refused_groups() const { return refused_groups_; }

 private:
  struct Parent;
  struct Group;
  struct CellPlace {
    std::uint32_t parent = kNowhere;
    std::uint32_t group = kNowhere;
    std::uint32_t member = kNowhere;  // Of all groups; only where the detector sees members.
  };
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  void place_new_cells(const std::vector<Labels>& cells);
  CellPlace place(const Labels& cell);
  std::uint32_t parent_of(Labels labels);
  std::uint32_t group_of(Labels labels, std::uint32_t parent);
  std::uint32_t member_of(const Labels& cell, std::uint32_t group);
  std::size_t first_counted(const BucketRun& run, std::size_t from, bool& begun) const;
  void advance_groups(const SignalBatch& batch, std::size_t from, Timestamp judge_from,
                      std::vector<RuleEvent>& events);
  void prefetch_after(std::size_t group) const;
  struct Counts;
  [[nodiscard]] Counts sums(const SignalBatch& batch) const;
  void judge(std::uint32_t index, Timestamp at, std::vector<RuleEvent>& events);
  void note_change(std::uint32_t index, std::size_t tier);
  static std::vector<GroupView> views(std::vector<const Group*> groups, bool only_active);
  [[nodiscard]] AlertPolicy policy(std::size_t tier) const;

  const RuleSpec* spec_;
  const SignalPlan* plan_;
  std::vector<std::string> parent_by_;  // `by` without failure labels.
  std::vector<std::string> member_by_;  // `by` and the detector's member labels; empty without.
  bool splits_failures_ = false;        // `by` holds failure labels.
  bool keeps_neutral_ = false;          // The matchers speak of what is neutral.
  std::vector<CellPlace> places_;
  std::vector<std::unique_ptr<Parent>> parents_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::unordered_map<Labels, std::uint32_t, LabelsHash> parent_index_;
  std::unordered_map<Labels, std::uint32_t, LabelsHash> group_index_;
  std::unordered_map<Labels, std::uint32_t, LabelsHash> member_index_;
  std::vector<std::uint32_t> active_;   // Groups with a tier that isn't inactive.
  std::vector<std::uint32_t> changed_;  // Groups with a tier that take_changed() must give.
  std::uint64_t refused_groups_ = 0;
  Timestamp folded_until_;  // By the snapshot that was loaded.
};

}  // namespace outcomed
