// Where numbers come from, seen from the engine: one batch of buckets for each signal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "queries/base/codec.h"
#include "queries/base/labels.h"
#include "queries/base/result.h"
#include "queries/bucket.h"
#include "queries/signal.h"

namespace outcomed {

// Something a person should know about the data, although it was counted: said once, not per step.
struct Problem {
  std::string what;     // Stable short name: "flapping_counter", "late_samples".
  std::string where;    // Target or series.
  std::string message;  // One sentence with the remedy.
  friend bool operator==(const Problem&, const Problem&) = default;
};

// One finest label set of a signal. Cells of the denominator have only the signal's `labels`; cells
// of failures may add its `failure_labels`.
using CellId = std::uint32_t;

// Buckets of one signal over consecutive steps. Values lie by cell, then by step:
// n[cell * steps() + step]. Cells only grow: an id means the same label set as long as the source
// lives (Source::cells).
struct SignalBatch {
  TimeRange range;
  Duration step{};
  std::vector<Coverage> coverage;  // One for each step.
  std::vector<std::int64_t> n;
  std::vector<std::int64_t> k;

  [[nodiscard]] std::size_t steps() const { return coverage.size(); }
};

// A single event worth naming in the alert that it leads to: which request it was, never what was
// in it.
struct Evidence {
  std::size_t signal = 0;  // Number among the source's signals.
  Labels labels;           // Of the cell it counted into.
  Timestamp at;
  std::string name;  // "request"
  std::string text;
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

struct Fetch {
  std::vector<SignalBatch> batches;  // In the order of the signals the source was made with.
  std::vector<Problem> problems;
  std::vector<std::string> facts;  // Said in verdicts: "counters of this gateway count twice".
  std::vector<Evidence> evidence;  // Of this range; a bounded number.
  std::uint64_t samples = 0;       // Raw samples held at once for it; 0 where there are none.
};

// Implementations never log and never throw. One thread at a time calls a source (but for poll);
// fetch may block up to the source's own timeout for each request. The memory that makes increments
// exact across calls (last value of each series) is saved with the tick and restored before the
// first fetch.
class Source {
 public:
  virtual ~Source() = default;

  // Buckets of every signal for `range`, whose ends lie on the step. An error leaves the memory as
  // it was, so the same range can be asked again.
  virtual Result<Fetch> fetch(TimeRange range) = 0;
  // Label sets of the cells of signal number `signal`, by CellId.
  [[nodiscard]] virtual const std::vector<Labels>& cells(std::size_t signal) const = 0;

  // Label sets of cells that an earlier run gave ids 0, 1, …; called before load() and fetch().
  virtual void seed_cells(std::size_t, const std::vector<Labels>&) {}

  // The span of the data there is, where the source is finite (a recording).
  virtual Result<std::optional<TimeRange>> span() { return std::optional<TimeRange>(); }

  // False where only what happens from now on can be seen (a page read directly): then nothing
  // before the first start is asked for.
  [[nodiscard]] virtual bool has_past() const { return true; }

  // Sources that must look at their target more often than once a tick (a page read directly).
  [[nodiscard]] virtual std::optional<Duration> poll_interval() const { return std::nullopt; }
  // May run beside every other call, and may wait for its target as long as its timeout: what it
  // brings lies aside until take_in() or the next fetch().
  virtual Status poll(Timestamp) { return ok(); }
  // Puts what poll() brought in order; saves room where fetches are far apart.
  virtual void take_in() {}

  virtual void save(Writer& writer) const = 0;
  virtual bool load(Reader& reader) = 0;  // False: not readable; the memory stays empty.
};

}  // namespace outcomed
