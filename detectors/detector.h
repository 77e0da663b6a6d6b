// Buckets in, verdicts out. No I/O, no clock, no log: the same buckets give the same verdicts on
// any machine on any day.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "detectors/verdict.h"
#include "queries/base/codec.h"
#include "queries/base/params.h"
#include "queries/bucket.h"
#include "queries/signal.h"

namespace outcomed {

// One severity of a rule. Each tier is an alert of its own with the rule's memory shared.
struct Tier {
  std::string severity;
  Duration hold{};       // `for`
  double threshold = 0;  // For display.
};

// The memory of one group, advanced by every bucket in time order. advance() and judgement() run
// for every group and step and allocate nothing; verdict() runs when somebody asks.
class Fold {
 public:
  virtual ~Fold() = default;
  virtual void advance(const Bucket& bucket) = 0;
  [[nodiscard]] virtual Judgement judgement(std::size_t tier) const = 0;
  // Start of the first bucket of the change that a breach would belong to.
  [[nodiscard]] virtual Timestamp onset() const = 0;
  [[nodiscard]] virtual Verdict verdict(std::size_t tier) const = 0;
  // True when the memory equals that of a fresh fold fed only empty buckets: it may be dropped.
  [[nodiscard]] virtual bool idle() const = 0;
  virtual void save(Writer& writer) const = 0;
  virtual bool load(Reader& reader) = 0;
};

// What a detector is told about the signal it judges, for its sentences and checks.
struct SignalWords {
  std::string unit = "requests";   // "71 of 77 requests"
  std::string outcome = "failed";  // "… failed"
  Duration step{};
};

// The settings of one rule.
class Detector {
 public:
  virtual ~Detector() = default;
  [[nodiscard]] virtual std::unique_ptr<Fold> start(const Labels& group) const = 0;
  [[nodiscard]] virtual const std::vector<Tier>& tiers() const = 0;
  // How far back data must be read before the first judgement is worth what it says.
  [[nodiscard]] virtual Duration reach() const = 0;
  // An alert that can't be judged any more (too few requests) is given up after this long.
  [[nodiscard]] virtual Duration patience() const = 0;
};

}  // namespace outcomed
