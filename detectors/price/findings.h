// What a price rule finds in the amounts of a window, and how it says so. Pure.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detectors/price/blend.h"
#include "detectors/price/price.h"
#include "queries/prices/spend.h"

namespace outcomed {

// Costs of rows that have an expected one.
struct ComparedCosts {
  std::int64_t rows = 0;
  Money recorded;
  Money expected;

  // At most 1000, which stands for anything booked where nothing was expected; 1 where neither.
  [[nodiscard]] double ratio() const;
};
ComparedCosts compared(const SpendAmounts& amounts);

// The same of one value of `compare`.
struct NamedCosts {
  std::string_view name;
  ComparedCosts costs;
};

struct PriceFindings {
  bool low = false;  // Less was booked than expected; `high`: more.
  bool high = false;
  bool rows = false;
  bool unpriced = false;
  bool estimated = false;
  bool names = false;
  bool dear = false;    // A success costs more than the line.
  bool dearer = false;  // And more than it did.

  [[nodiscard]] bool of_prices() const {
    return low || high || rows || unpriced || estimated || names;
  }
  [[nodiscard]] bool of_successes() const { return dear || dearer; }
  [[nodiscard]] bool any() const { return of_prices() || of_successes(); }
};

// Rows with something to compare: as expected, off, or unpriced; of signals without such kinds, the
// requests.
std::int64_t judged_rows(const SpendAmounts& amounts);
// Rows of those that are wrong: off (outside, where the price is blended).
std::int64_t wrong_rows(const SpendAmounts& amounts, const PriceParams& params);

// What a success costs: all that was paid, by the requests of consumers that succeeded.
struct SuccessCost {
  std::int64_t successes = 0;
  Money recorded;

  // 0 without successes.
  [[nodiscard]] double each() const;
};
SuccessCost success_cost(const SpendAmounts& amounts);
// The days without the window: what came before. Amounts of both hold the same rows.
SpendAmounts without(const SpendAmounts& days, const SpendAmounts& window);
// Sets `dear` and `dearer`; `known_days` are those before the window.
void judge_successes(const SuccessCost& now, const SuccessCost& before, int known_days,
                     const PriceParams& params, PriceFindings& findings);

// Names' costs are looked at by the caller's own window, as `amounts` are; `days` are the 28 days.
PriceFindings find_in(const SpendAmounts& amounts, const SpendAmounts& days, int known_days,
                      const PriceParams& params);
// Lowest and highest ratio among names with at least min_requests rows, where they differ.
std::optional<std::pair<NamedCosts, NamedCosts>> unlike_names(const std::vector<NamedCosts>& names,
                                                              const PriceParams& params);

// Everything the words need.
struct PriceReport {
  std::string subject;
  std::string_view currency;
  SpendAmounts amounts;
  SpendAmounts days;
  int known_days = 0;
  PriceFindings findings;
  std::vector<NamedCosts> names;
  SuccessCost before;               // The 28 days but for the window.
  std::optional<PriceEntry> entry;  // The table's of the group's model, where it is known.
  Timestamp at;
};

// "61 %", "98.3 %", "430 %".
std::string format_ratio(double ratio);
std::string price_sentence(const PriceReport& report, const PriceParams& params);
std::vector<std::pair<std::string, std::string>> price_facts(const PriceReport& report,
                                                             const PriceParams& params);
// The same of a rule that judges what a success costs, and says nothing of prices.
bool is_about_successes(const PriceFindings& findings, const PriceParams& params);
std::string success_sentence(const PriceReport& report, const PriceParams& params);
// What 28 days of traffic propose; nothing where the model has one tariff, or isn't known.
std::optional<PriceBlend> proposed_blend(const PriceReport& report);

}  // namespace outcomed
