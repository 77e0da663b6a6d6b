// The sums of one signal over one batch: cells by steps, and the debts that make net counts exact.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "queries/base/codec.h"
#include "queries/signal.h"
#include "queries/source.h"

namespace outcomed {

// Where the rises of one series go in one signal.
struct Contribution {
  static constexpr CellId kNone = ~CellId{0};
  std::uint32_t signal = 0;
  CellId n_cell = kNone;  // Denominator cell (the signal's labels).
  CellId k_cell = kNone;  // Failure cell (with failure labels).
  int sign = 1;
  bool calibrated = false;
};

class Tally {
 public:
  explicit Tally(const SignalPlan& plan);

  // Whether and where a raw series belongs. Makes the cells it needs.
  void contributions(const Labels& raw, std::uint32_t signal, std::vector<Contribution>& out);

  void begin(TimeRange range);
  // Where the rises of one series go in this batch: a sum for each step. Null: nowhere. They hold
  // until finish(), if no cell is made meanwhile.
  struct Rows {
    std::int64_t* n = nullptr;
    std::int64_t* k = nullptr;
    int sign = 1;  // Of n.

    void add(std::size_t step, std::int64_t count) const {
      if (k != nullptr) k[step] += count;
      if (n != nullptr) n[step] += sign * count;
    }
  };
  Rows rows(const Contribution& to);
  // No step has fewer requests than failures: a failure series whose requests have no series yet is
  // 100 %, not "no data". Sums of terms that add and take (fallbacks) may be negative in one step
  // when their counters were scraped a moment apart: the debt is carried into the next step, so
  // totals stay exact.
  SignalBatch finish(const std::vector<Coverage>& coverage);

  [[nodiscard]] const std::vector<Labels>& cells() const { return cells_; }
  void seed(const std::vector<Labels>& cells) {
    for (const Labels& labels : cells) cell(labels);
  }
  void save(Writer& writer) const;
  bool load(Reader& reader);

 private:
  CellId cell(Labels labels);
  void settle_debts();
  void count_failures_as_requests();

  const SignalPlan* plan_;
  bool takes_ = false;                       // Some term takes from the requests.
  std::vector<std::string> failure_labels_;  // labels and failure_labels together
  std::vector<Labels> cells_;
  std::unordered_map<Labels, CellId, LabelsHash> ids_;
  std::unordered_map<CellId, CellId> requests_of_;  // Failure cell -> its denominator.
  std::unordered_map<CellId, std::int64_t> debts_;  // Negative rests; persisted by label set.

  TimeRange range_;
  std::size_t steps_ = 0;
  std::vector<std::int64_t> n_;
  // Where some term takes: requests from terms that are no failures. May be negative.
  std::vector<std::int64_t> net_;
  std::vector<std::int64_t> k_;
};

}  // namespace outcomed
