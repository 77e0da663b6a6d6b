#include "daemon/engine/rule_runner.h"

#include <algorithm>

namespace outcomed {
namespace {

// A label with ever new values must not eat the memory; what is there goes on.
constexpr std::size_t kMaxGroups = 20'000;

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

// Requests of one set of the signal's labels: the n of all groups that split only failures.
struct RuleRunner::Parent {
  Labels labels;
  bool begun = false;
  std::unique_ptr<Fold> template_fold;  // Fed with k = 0: the past of groups that appear later.
};

struct RuleRunner::Group {
  Labels labels;
  std::uint32_t parent = 0;
  bool active = false;  // Some tier is pending or firing.
  bool begun = false;   // Something was counted; before that there is nothing to fold.
  std::unique_ptr<Fold> fold;
  std::vector<AlertState> tiers;
  std::vector<bool> changed;
  std::vector<std::uint32_t> members;  // In the order that the fold knows them by.
};

// Of one batch, by parent (group, member), then by step.
struct RuleRunner::Counts {
  std::vector<std::int64_t> n;
  std::vector<std::int64_t> k;
  std::vector<std::int64_t> member_n;
  std::vector<std::int64_t> member_k;
};

RuleRunner::RuleRunner(const RuleSpec& spec, const SignalPlan& plan) : spec_(&spec), plan_(&plan) {
  for (const std::string& name : spec.by) {
    if (contains(plan.failure_labels, name)) {
      splits_failures_ = true;
    } else {
      parent_by_.push_back(name);
    }
  }
  for (const Matcher& matcher : spec.matchers) {
    keeps_neutral_ |= std::ranges::any_of(
        plan.neutral, [&](const Matcher& neutral) { return neutral.name() == matcher.name(); });
  }
  const std::vector<std::string> member_labels = spec.detector->member_labels();
  if (!member_labels.empty()) {
    member_by_ = spec.by;
    member_by_.insert(member_by_.end(), member_labels.begin(), member_labels.end());
  }
  if (parent_by_.empty() && !splits_failures_) group_of({}, parent_of({}));
}

RuleRunner::~RuleRunner() = default;

AlertPolicy RuleRunner::policy(std::size_t tier) const {
  return {spec_->detector->tiers()[tier].hold, spec_->keep_firing, spec_->detector->patience()};
}

std::uint32_t RuleRunner::parent_of(Labels labels) {
  if (const auto found = parent_index_.find(labels); found != parent_index_.end()) {
    return found->second;
  }
  auto parent = std::make_unique<Parent>();
  if (splits_failures_) parent->template_fold = spec_->detector->start(labels);
  const auto index = static_cast<std::uint32_t>(parents_.size());
  parent_index_.emplace(labels, index);
  parent->labels = std::move(labels);
  parents_.push_back(std::move(parent));
  if (!splits_failures_) group_of(parents_[index]->labels, index);
  return index;
}

std::uint32_t RuleRunner::group_of(Labels labels, std::uint32_t parent) {
  if (const auto found = group_index_.find(labels); found != group_index_.end()) {
    return found->second;
  }
  if (groups_.size() >= kMaxGroups) return kNowhere;
  auto group = std::make_unique<Group>();
  group->parent = parent;
  group->fold = spec_->detector->start(labels);
  if (parents_[parent]->template_fold != nullptr) {
    // A class that appears now was absent before: its past is the parent's, without failures.
    Writer past;
    parents_[parent]->template_fold->save(past);
    Reader reader(past.bytes());
    group->fold->load(reader);
    group->begun = parents_[parent]->begun;
  }
  for (const Tier& tier : spec_->detector->tiers()) {
    AlertState state;
    state.key = {spec_->name, tier.severity, labels};
    group->tiers.push_back(std::move(state));
  }
  group->changed.resize(group->tiers.size(), false);
  const auto index = static_cast<std::uint32_t>(groups_.size());
  group_index_.emplace(labels, index);
  group->labels = std::move(labels);
  groups_.push_back(std::move(group));
  return index;
}

std::uint32_t RuleRunner::member_of(const Labels& cell, std::uint32_t group) {
  Labels labels = cell.project(member_by_);
  const auto next = static_cast<std::uint32_t>(member_index_.size());
  const auto [found, is_new] = member_index_.emplace(std::move(labels), next);
  if (is_new) {
    groups_[group]->members.push_back(next);
    groups_[group]->fold->add_member(cell.project(spec_->detector->member_labels()));
  }
  return found->second;
}

RuleRunner::CellPlace RuleRunner::place(const Labels& cell) {
  CellPlace place;
  bool of_requests = true;
  bool of_failures = true;
  for (const Matcher& matcher : spec_->matchers) {
    const bool matches = matcher.matches(cell);
    of_failures &= matches;
    if (!contains(plan_->failure_labels, matcher.name())) of_requests &= matches;
  }
  if (!of_requests) return place;
  place.parent = parent_of(cell.project(parent_by_));
  const bool neutral =
      !plan_->neutral.empty() && !keeps_neutral_ && all_match(plan_->neutral, cell);
  if (!of_failures || neutral) return place;
  const bool has_failure_label = std::ranges::any_of(cell.pairs(), [&](const Labels::Pair& pair) {
    return contains(plan_->failure_labels, pair.first);
  });
  // Cells of requests have no failure labels: they make no group of a rule that splits failures.
  if (splits_failures_ && !has_failure_label) return place;
  place.group = group_of(cell.project(spec_->by), place.parent);
  if (place.group == kNowhere) ++refused_groups_;
  if (!member_by_.empty() && place.group != kNowhere) place.member = member_of(cell, place.group);
  return place;
}

void RuleRunner::place_new_cells(const std::vector<Labels>& cells) {
  while (places_.size() < cells.size()) places_.push_back(place(cells[places_.size()]));
}

void RuleRunner::judge(std::uint32_t index, Timestamp at, std::vector<RuleEvent>& events) {
  Group& group = *groups_[index];
  const std::size_t tiers = group.tiers.size();
  for (std::size_t tier = 0; tier < tiers; ++tier) {
    const Judgement judgement = group.fold->judgement(tier);
    if (!group.active && judgement != Judgement::breached) continue;
    AlertState& state = group.tiers[tier];
    if (state.phase == Phase::inactive && judgement != Judgement::breached) continue;
    const Timestamp onset = state.phase == Phase::inactive ? group.fold->onset() : state.onset;
    Step moved = step(std::move(state), judgement, at, onset, policy(tier));
    state = std::move(moved.state);
    note_change(index, tier);
    if (!moved.transition) continue;
    events.push_back({state, *std::move(moved.transition), tier, group.fold->verdict(tier)});
  }
}

void RuleRunner::note_change(std::uint32_t index, std::size_t tier) {
  Group& group = *groups_[index];
  if (std::ranges::find(group.changed, true) == group.changed.end()) changed_.push_back(index);
  group.changed[tier] = true;
  const bool active = std::ranges::any_of(
      group.tiers, [](const AlertState& state) { return state.phase != Phase::inactive; });
  if (active == group.active) return;
  group.active = active;
  if (active) {
    active_.push_back(index);
  } else {
    std::erase(active_, index);
  }
}

RuleRunner::Counts RuleRunner::sums(const SignalBatch& batch) const {
  const std::size_t steps = batch.steps();
  const std::size_t known = std::min(places_.size(), batch.n.size() / steps);
  Counts counts;
  counts.n.resize(parents_.size() * steps);
  counts.k.resize(groups_.size() * steps);
  counts.member_n.resize(member_index_.size() * steps);
  counts.member_k.resize(member_index_.size() * steps);
  for (std::size_t cell = 0; cell < known; ++cell) {
    const CellPlace& to = places_[cell];
    if (to.parent == kNowhere) continue;
    const std::int64_t* const n = &batch.n[cell * steps];
    std::int64_t* const parent = &counts.n[to.parent * steps];
    for (std::size_t step = 0; step < steps; ++step) parent[step] += n[step];
    if (to.group == kNowhere) continue;
    const std::int64_t* const k = &batch.k[cell * steps];
    std::int64_t* const group = &counts.k[to.group * steps];
    for (std::size_t step = 0; step < steps; ++step) group[step] += k[step];
    if (to.member == kNowhere) continue;
    for (std::size_t step = 0; step < steps; ++step) {
      counts.member_n[to.member * steps + step] += n[step];
      counts.member_k[to.member * steps + step] += k[step];
    }
  }
  return counts;
}

void RuleRunner::advance(const SignalBatch& batch, const std::vector<Labels>& cells,
                         Timestamp judge_from, std::vector<RuleEvent>& events) {
  place_new_cells(cells);
  std::size_t from = 0;
  while (from < batch.steps() &&
         batch.range.begin + batch.step * static_cast<std::int64_t>(from + 1) <= folded_until_) {
    ++from;
  }
  if (from < batch.steps()) advance_groups(batch, from, judge_from, events);
}

// Long memories begin with the first count, so that they don't depend on when a label set was heard
// of: after a restart that is earlier.
std::size_t RuleRunner::first_counted(const BucketRun& run, std::size_t from, bool& begun) const {
  if (begun || !spec_->detector->long_memory()) return from;
  while (from < run.size() && run.n[from] == 0 && run.k[from] == 0) ++from;
  begun = from < run.size();
  return from;
}

// Each pointer must be here before what it points to can be fetched, hence three distances.
void RuleRunner::prefetch_after(std::size_t group) const {
  constexpr std::size_t kAhead = 4;
  constexpr std::size_t kFoldBytes = 256;  // What comes first in a fold is what every step reads.
  const auto fetch = [](const void* object, std::size_t bytes) {
    constexpr std::size_t kLine = 64;
    const auto* const begin = static_cast<const char*>(object);
    for (std::size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(begin + at, 1);
  };
  const std::size_t count = groups_.size();
  if (group + 3 * kAhead < count) fetch(groups_[group + 3 * kAhead].get(), sizeof(Group));
  if (group + 2 * kAhead < count) fetch(groups_[group + 2 * kAhead]->fold.get(), kFoldBytes);
  if (group + kAhead < count) groups_[group + kAhead]->fold->prefetch();
}

void RuleRunner::advance_groups(const SignalBatch& batch, std::size_t from, Timestamp judge_from,
                                std::vector<RuleEvent>& events) {
  const std::size_t steps = batch.steps();
  const Counts counts = sums(batch);
  const std::vector<std::int64_t> none(steps, 0);
  const auto row = [&](const std::int64_t* n, const std::int64_t* k) {
    return BucketRun{batch.range.begin, batch.step, {n, steps}, {k, steps}, batch.coverage, {}};
  };
  std::vector<MemberRun> members;
  for (std::uint32_t index = 0; index < groups_.size(); ++index) {
    Group& group = *groups_[index];
    prefetch_after(index);
    BucketRun buckets = row(&counts.n[group.parent * steps], &counts.k[index * steps]);
    members.clear();
    for (const std::uint32_t member : group.members) {
      members.push_back(
          {{&counts.member_n[member * steps], steps}, {&counts.member_k[member * steps], steps}});
    }
    buckets.members = members;
    for (std::size_t step = first_counted(buckets, from, group.begun); step < steps;) {
      // To an alert that isn't there only a breach matters.
      const std::size_t taken = group.active ? 1 : group.fold->advance_to_breach(buckets, step);
      if (group.active) group.fold->advance(buckets, step);
      step += taken;
      const Timestamp end = buckets[step - 1].end();
      if (end > judge_from) judge(index, end, events);
    }
  }
  for (std::size_t index = 0; index < parents_.size(); ++index) {
    Fold* const fold = parents_[index]->template_fold.get();
    if (fold == nullptr) continue;
    const BucketRun buckets = row(&counts.n[index * steps], none.data());
    std::size_t step = first_counted(buckets, from, parents_[index]->begun);
    while (step < steps) step += fold->advance_to_breach(buckets, step);
  }
}

void RuleRunner::save(Writer& writer) const {
  const auto fold_bytes = [&](const Fold& fold) {
    Writer memory;
    fold.save(memory);
    writer.text(memory.bytes());
  };
  std::vector<const Labels*> members(member_index_.size());
  for (const auto& [labels, member] : member_index_) members[member] = &labels;
  writer.u64(parents_.size());
  for (const auto& parent : parents_) {
    writer.labels(parent->labels);
    writer.u64(parent->begun ? 1 : 0);
    if (parent->template_fold != nullptr) fold_bytes(*parent->template_fold);
  }
  writer.u64(groups_.size());
  for (const auto& group : groups_) {
    writer.labels(group->labels);
    writer.u64(group->begun ? 1 : 0);
    writer.u64(group->members.size());
    for (const std::uint32_t member : group->members) writer.labels(*members[member]);
    fold_bytes(*group->fold);
  }
}

bool RuleRunner::load(Reader& reader, Timestamp at) {
  const auto load_fold = [&](Fold& fold) {
    const std::string bytes = reader.text();
    Reader memory(bytes);
    return fold.load(memory);
  };
  bool good = true;
  for (std::uint64_t left = reader.u64(); left > 0 && reader.ok() && good; --left) {
    Parent& parent = *parents_[parent_of(reader.labels())];
    parent.begun = reader.u64() != 0;
    if (parent.template_fold != nullptr) good = load_fold(*parent.template_fold);
  }
  for (std::uint64_t left = reader.u64(); left > 0 && reader.ok() && good; --left) {
    Labels labels = reader.labels();
    const std::uint32_t index = group_of(labels, parent_of(labels.project(parent_by_)));
    if (index == kNowhere) return false;
    Group& group = *groups_[index];
    group.begun = reader.u64() != 0;
    for (std::uint64_t member = reader.u64(); member > 0 && reader.ok(); --member) {
      const auto next = static_cast<std::uint32_t>(member_index_.size());
      good = good && member_index_.emplace(reader.labels(), next).second;
      group.members.push_back(next);
    }
    good = good && load_fold(*group.fold);
  }
  folded_until_ = at;
  return good && reader.at_end();
}

bool RuleRunner::restore(const AlertState& state, std::vector<RuleEvent>& events, Timestamp at) {
  const auto& tiers = spec_->detector->tiers();
  const auto tier = std::ranges::find(tiers, state.key.severity, &Tier::severity);
  if (tier == tiers.end()) return false;
  for (const auto& [name, value] : state.key.group.pairs()) {
    if (!contains(spec_->by, name)) return false;  // The rule is split otherwise now.
  }
  const std::uint32_t parent = parent_of(state.key.group.project(parent_by_));
  const std::uint32_t index = group_of(state.key.group, parent);
  if (index == kNowhere) return false;
  Group& group = *groups_[index];
  const auto number = static_cast<std::size_t>(tier - tiers.begin());
  Step adopted = adopt(state, at, policy(number));
  group.tiers[number] = std::move(adopted.state);
  note_change(index, number);
  if (adopted.transition) {
    events.push_back(
        {group.tiers[number], *std::move(adopted.transition), number, group.fold->verdict(number)});
  }
  return true;
}

std::vector<RuleRunner::GroupView> RuleRunner::views(std::vector<const Group*> groups,
                                                     bool only_active) {
  std::ranges::sort(groups, [](const Group* a, const Group* b) { return a->labels < b->labels; });
  std::vector<GroupView> views;
  for (const Group* group : groups) {
    for (std::size_t tier = 0; tier < group->tiers.size(); ++tier) {
      const AlertState& state = group->tiers[tier];
      if (only_active && state.phase == Phase::inactive) continue;
      views.push_back({group->labels, tier, &state, group->fold.get()});
    }
  }
  return views;
}

std::vector<RuleRunner::GroupView> RuleRunner::groups() const {
  std::vector<const Group*> all;
  for (const auto& group : groups_) all.push_back(group.get());
  return views(std::move(all), false);
}

std::vector<RuleRunner::GroupView> RuleRunner::active() const {
  std::vector<const Group*> some;
  for (const std::uint32_t index : active_) some.push_back(groups_[index].get());
  return views(std::move(some), true);
}

std::vector<AlertState> RuleRunner::take_changed() {
  std::ranges::sort(changed_);
  std::vector<AlertState> states;
  for (const std::uint32_t index : changed_) {
    Group& group = *groups_[index];
    for (std::size_t tier = 0; tier < group.tiers.size(); ++tier) {
      if (!group.changed[tier]) continue;
      states.push_back(group.tiers[tier]);
      group.changed[tier] = false;
    }
  }
  changed_.clear();
  return states;
}

}  // namespace outcomed
