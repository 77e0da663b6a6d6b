// Kind `price`: the cost that was booked against the cost by the provider's price table.
//
// It judges the signal `spend` (queries/prices/spend.h), whose cells carry the label `kind`.
// Breached while, over a sliding window, any of these holds:
//   ratio: recorded ÷ expected is further from 1 than `tolerance`, of rows with an expected cost
//   rows off: more than `rows_off` of the rows are off by more than 2 %
//   unpriced: more than `unpriced` of the rows have tokens and no cost
//   estimated: more than `without_details` of the rows lack token details that others have
//   names: two values of the label `compare` differ in their ratio by more than `tolerance`
//   dear: a successful request costs more than `max_cost_per_success`, all that was paid counted
//   dearer: it costs more than `dearer` beyond what it cost in the rest of 28 days
// With `blended` single rows need only lie between off-peak and peak, and the ratio is taken over
// 28 days.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detectors/detector.h"
#include "queries/prices/money.h"

namespace outcomed {

struct PriceParams {
  Duration window = std::chrono::hours(24);
  std::optional<double> tolerance = 0.02;
  std::optional<double> rows_off = 0.01;
  std::optional<double> unpriced = 0.01;
  std::optional<double> without_details;
  bool against_prices = true;
  std::string max_cost_per_success;
  std::optional<double> dearer;
  std::string compare;
  bool blended = false;
  std::int64_t min_requests = 20;
  std::int64_t min_rows = 3;
  std::string min_cost = "0";
  Duration hold{};
  std::string severity = "ticket";

  // As read from the texts.
  Money least_cost;
  std::optional<Money> most_per_success;

  // It judges what a success costs, for which no price table is needed.
  [[nodiscard]] bool judges_successes() const { return most_per_success || dearer; }

  void visit(ParamVisitor& visitor, const SignalWords& words);
};

class PriceDetector final : public Detector {
 public:
  static constexpr std::string_view kKind = "price";
  static constexpr std::string_view kSummary =
      "booked cost against the cost by the provider's price table";
  static constexpr int kLongDays = 28;  // What the blended price is made of.

  PriceDetector(PriceParams params, SignalWords words);

  [[nodiscard]] std::unique_ptr<Fold> start(const Labels& group) const override;
  [[nodiscard]] const std::vector<Tier>& tiers() const override { return tiers_; }
  [[nodiscard]] std::vector<std::string> member_labels() const override;
  [[nodiscard]] Duration reach() const override;
  [[nodiscard]] Duration patience() const override { return params_.window; }
  // The blended price knows 28 days.
  [[nodiscard]] bool long_memory() const override { return true; }

  [[nodiscard]] const PriceParams& params() const { return params_; }
  [[nodiscard]] const SignalWords& words() const { return words_; }
  [[nodiscard]] std::string_view currency() const;
  // The window is kept in at most kSlots slots of whole steps: it moves on by one of them.
  [[nodiscard]] Duration slot() const { return slot_; }
  [[nodiscard]] std::size_t slots() const;

 private:
  static constexpr std::int64_t kSlots = 96;

  PriceParams params_;
  SignalWords words_;
  std::vector<Tier> tiers_;
  Duration slot_{};
};

}  // namespace outcomed
