// The signal `spend`: what the rows of a step amount to, one cell for each kind of amount. Cells
// carry the plain label `kind`; n is the amount (money in nano-units), k is 0.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "queries/prices/expected.h"

namespace outcomed {

enum class SpendKind : std::uint8_t {
  requests,       // Rows that are requests (no earlier attempts), failures included.
  recorded_cost,  // Of all rows.
  // Tokens of rows that are billed (not RowVerdict::free), as the gateway counts them.
  prompt_tokens,
  cached_tokens,
  cache_creation_tokens,
  completion_tokens,
  reasoning_tokens,
  // Of rows whose model the tables have.
  expected_cost,
  expected_off_peak,
  expected_peak,
  rows_priced,
  rows_off,
  rows_unpriced,   // Tables or not.
  rows_unknown,    // A cost, and no price in the tables.
  rows_outside,    // Of rows_off: beyond off-peak and peak.
  rows_bare,       // Billed, and the usage doesn't say how many tokens were cached.
  unmatched_cost,  // Recorded cost of rows without an expected one: recorded − unmatched compares.
  // Of rows_off, by what was booked instead, in the order of BookedAs from `peak` on.
  booked_peak,
  booked_off_peak,
  booked_former,
  booked_coming,
  booked_cached_free,
  booked_cached_full,
  booked_creation_free,
  booked_creation_as_input,
  booked_reasoning_free,
  booked_reasoning_twice,
  booked_reasoning_only,
  booked_input_free,
  booked_output_free,
  successes,  // Of requests: those that succeeded, without the gateway's own probes.
};
inline constexpr std::size_t kSpendKinds = 31;
inline constexpr std::string_view kSpendKindLabel = "kind";

// "requests", "booked_cached_free": the values of the label.
std::string_view to_string(SpendKind kind);
std::optional<SpendKind> spend_kind(std::string_view name);
// Of rows that were booked as something known.
std::optional<SpendKind> spend_kind(BookedAs what);

struct SpendAmounts {
  std::array<std::int64_t, kSpendKinds> values{};

  [[nodiscard]] std::int64_t of(SpendKind kind) const {
    return values[static_cast<std::size_t>(kind)];
  }
  void add(SpendKind kind, std::int64_t amount) {
    std::int64_t& value = values[static_cast<std::size_t>(kind)];
    value = add_held(value, amount);
  }
  // What a row adds. `priced` is price_row() of the same row.
  void add(const SpendRow& row, const PricedRow& priced);
  friend bool operator==(const SpendAmounts&, const SpendAmounts&) = default;
};

}  // namespace outcomed
