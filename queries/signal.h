// What a source must count: a named question about outcomes, as increments of counters.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "queries/base/codec.h"
#include "queries/base/labels.h"
#include "queries/base/matcher.h"
#include "queries/base/time.h"
#include "queries/base/time_zone.h"

namespace outcomed {

// Turns the labels of a raw series into labels of the signal (before projection onto the labels in
// use). Nothing: the series does not belong to the signal.
using LabelRule = std::function<std::optional<Labels>(const Labels& raw)>;

// One counter that adds to (sign +1) or takes from (−1) the numbers of a signal.
struct CounterTerm {
  Selector selector;
  int sign = 1;
  bool counts_n = true;   // Its increments are requests.
  bool counts_k = false;  // Its increments are failures.
  // Gateways that count one event several times divide by that number; which one is learned from
  // the data (Calibration) and applies only to terms that say so.
  bool calibrated = false;
  LabelRule labels;
};

// The last value of one series of the process that a target showed last.
struct LastValue {
  std::string_view target;  // "job/instance"; empty for a recording of one page.
  const Labels* labels;     // All of them, "__name__" among them.
  double value;
};

// Learns, for each target, how many times its counters count one event. Pure but for its memory.
class Calibration {
 public:
  virtual ~Calibration() = default;
  // The counters whose last values it learns from.
  [[nodiscard]] virtual const std::vector<Selector>& interest() const = 0;
  // True when nothing more needs to be read for its sake (series read anyway are still shown).
  [[nodiscard]] virtual bool settled() const = 0;
  virtual void learn(const std::vector<LastValue>& values) = 0;
  // The target's process was replaced, perhaps by another version.
  virtual void restarted(std::string_view target) = 0;
  // The divisor for a target; 1 until something else is known.
  [[nodiscard]] virtual int divisor(std::string_view target) const = 0;
  // How the divisors came about, for the verdict's facts.
  [[nodiscard]] virtual std::vector<std::string> facts() const = 0;
  virtual void save(Writer& writer) const = 0;
  virtual bool load(Reader& reader) = 0;
};

class RowCounter;
struct SignalPlan;
// Makes the counter of several signals that are read from one table.
using RowCounterMaker = std::function<std::unique_ptr<RowCounter>(const std::vector<SignalPlan>&)>;

struct SignalPlan {
  std::string name;
  std::string source;
  Duration step = std::chrono::minutes(1);
  std::vector<std::string> labels;          // Split n and k.
  std::vector<std::string> failure_labels;  // Split only k.
  // Declared, but nobody asks for them: what they tell apart is summed.
  std::vector<std::string> unused_labels;
  std::vector<std::string> unused_failure_labels;
  std::vector<CounterTerm> terms;        // For sources that read counters.
  RowCounterMaker rows;                  // For sources that read rows of a known table.
  std::string sql;                       // For sources that are asked in SQL.
  std::string time_zone;                 // IANA name; empty: UTC. Days are days of it.
  std::shared_ptr<const TimeZone> zone;  // The same; null: UTC.
  // Steps begin at multiples of `step` after this: days begin at the zone's midnight.
  Duration anchor{};
  std::shared_ptr<Calibration> calibration;
  // Failure classes that are not ours (callers' errors): counted as cells of their own, left out of
  // k unless a rule names them. Empty for most signals.
  Matchers neutral;
  // Words for sentences: "71 of 77 requests failed".
  std::string unit = "requests";
  std::string outcome = "failed";
  // n and k are money, in thousand-millionths of `unit`.
  bool money = false;
  std::string help;
  // The signal of another source that asks the same question; n of both is compared. Empty: none.
  std::string same_as;
};

// The begin of the step that holds `t`.
inline Timestamp begin_of_step(const SignalPlan& plan, Timestamp t) {
  return floor_to(t - plan.anchor, plan.step) + plan.anchor;
}

}  // namespace outcomed
