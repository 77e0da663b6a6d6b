// Buckets in, verdicts out. No I/O, no clock, no log: the same buckets give the same verdicts on
// any machine on any day.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "detectors/verdict.h"
#include "queries/base/codec.h"
#include "queries/base/params.h"
#include "queries/base/time_zone.h"
#include "queries/bucket.h"
#include "queries/signal.h"

namespace outcomed {

class PriceTables;

// One severity of a rule. Each tier is an alert of its own with the rule's memory shared.
struct Tier {
  std::string severity;
  Duration hold{};       // `for`
  double threshold = 0;  // For display.
};

// The counts of one member of a group: a series that the detector sees apart (a bin of a score, a
// model of a provider). By step, like the run's own.
struct MemberRun {
  std::span<const std::int64_t> n;
  std::span<const std::int64_t> k;
};

// Consecutive buckets of one group, oldest first; spans of one size.
struct BucketRun {
  Timestamp start;
  Duration length{};  // Of one.
  std::span<const std::int64_t> n;
  std::span<const std::int64_t> k;
  std::span<const Coverage> coverage;
  std::span<const MemberRun> members =
      {};  // In the order of Fold::add_member; their sums are n and k.

  [[nodiscard]] std::size_t size() const { return n.size(); }
  [[nodiscard]] Bucket operator[](std::size_t i) const {
    return {start + length * static_cast<std::int64_t>(i), length, n[i], k[i], coverage[i]};
  }
};

// What a step that was not seen whole says of its group; nothing for a complete one.
constexpr std::optional<Judgement> judgement_of(Coverage coverage) {
  switch (coverage) {
    case Coverage::missing:
      return Judgement::no_data;
    case Coverage::partial:
      return Judgement::partial;
    case Coverage::failed:
      return Judgement::failed;
    case Coverage::complete:
      break;
  }
  return std::nullopt;
}

// The memory of one group, advanced by every bucket in time order. advance() and judgement() run
// for every group and step and allocate nothing; verdict() runs when somebody asks.
class Fold {
 public:
  virtual ~Fold() = default;
  // Bucket number `step` of the run.
  virtual void advance(const BucketRun& run, std::size_t step) = 0;
  // advance() for one bucket after the other, beginning with number `from`, up to the first after
  // which some tier is breached; the number of buckets taken. For the long stretches of a backfill
  // in which nothing happens.
  virtual std::size_t advance_to_breach(const BucketRun& run, std::size_t from);
  // Brings what the next advance() reads into the processor's cache. The folds of a daemon don't
  // fit there, and waiting for memory is most of a live tick.
  virtual void prefetch() const {}
  // Members only grow: each is a row of every run from now on, zeros before. Only for detectors
  // with member_labels(). load() brings back those that save() knew; they are not added again.
  virtual void add_member(const Labels&) {}
  // Some tier is breached.
  [[nodiscard]] virtual bool breached() const = 0;
  [[nodiscard]] virtual Judgement judgement(std::size_t tier) const = 0;
  // Start of the first bucket of the change that a breach would belong to.
  [[nodiscard]] virtual Timestamp onset() const = 0;
  [[nodiscard]] virtual Verdict verdict(std::size_t tier) const = 0;
  // True when the memory equals that of a fresh fold fed only empty buckets: it may be dropped.
  [[nodiscard]] virtual bool idle() const = 0;
  // Bit-exact: a loaded fold goes on as the saved one would have.
  virtual void save(Writer& writer) const = 0;
  virtual bool load(Reader& reader) = 0;
};

// One bucket by itself, for callers that have no run.
void advance(Fold& fold, const Bucket& bucket);

// What a detector is told about the signal it judges, for its sentences and checks.
struct SignalWords {
  std::string unit = "requests";   // "71 of 77 requests"
  std::string outcome = "failed";  // "… failed"
  Duration step{};
  // Time zones by their IANA names, for detectors that know days. Null where there are none (UTC).
  std::shared_ptr<const TimeZones> zones = nullptr;
  // What providers take; null where the configuration has no price tables.
  std::shared_ptr<const PriceTables> prices = nullptr;
  // Counts are money, in thousand-millionths of `unit`.
  bool money = false;
};

// The settings of one rule.
class Detector {
 public:
  virtual ~Detector() = default;
  [[nodiscard]] virtual std::unique_ptr<Fold> start(const Labels& group) const = 0;
  [[nodiscard]] virtual const std::vector<Tier>& tiers() const = 0;
  // Labels that tell the members of a group apart; beside the rule's `by`.
  [[nodiscard]] virtual std::vector<std::string> member_labels() const { return {}; }
  // How far back data must be read before the first judgement is worth what it says.
  [[nodiscard]] virtual Duration reach() const = 0;
  // An alert that can't be judged any more (too few requests) is given up after this long.
  [[nodiscard]] virtual Duration patience() const = 0;
  // True: folds are saved now and then and completed from the buckets since, because what they know
  // is older than the buckets that reach() asks for (learned normals, evidence). False: the buckets
  // of reach() make the fold what it was.
  [[nodiscard]] virtual bool long_memory() const { return false; }
  // Counts up with every change of what folds save: memories of another version are left alone, and
  // the buckets make new ones.
  [[nodiscard]] virtual int memory_version() const { return 1; }
};

}  // namespace outcomed
