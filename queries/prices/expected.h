// What a row of a gateway's ledger should have cost by the provider's price table, and what was
// booked instead.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "queries/prices/price_table.h"

namespace outcomed {

// As LiteLLM books them (all rows of the recordings): `prompt` includes `cached` and
// `cache_creation`, `completion` includes `reasoning`. Where the parts are more than the whole the
// row counts them beside it, and so do we. Negative counts are none.
struct TokenCounts {
  std::int64_t prompt = 0;
  std::int64_t cached = 0;
  std::int64_t cache_creation = 0;
  std::int64_t completion = 0;
  std::int64_t reasoning = 0;
};

// The same without overlap: each token once.
struct BillableTokens {
  std::int64_t input = 0;
  std::int64_t cached = 0;
  std::int64_t creation = 0;
  std::int64_t output = 0;
  std::int64_t reasoning = 0;

  [[nodiscard]] bool empty() const {
    return input == 0 && cached == 0 && creation == 0 && output == 0 && reasoning == 0;
  }
};
BillableTokens billable(const TokenCounts& tokens);

// Rounded once, to the nano-unit.
Money cost_of(const TokenPrices& prices, const BillableTokens& tokens);

struct SpendRow {
  std::string_view provider_model;  // LiteLLM_SpendLogs.model.
  TokenCounts tokens;
  Money recorded;
  // When it ended: providers and gateways price by completion.
  Timestamp at;
  bool failed = false;      // status 'failure'.
  bool from_cache = false;  // The gateway's own cache answered: nobody bills that.
  bool is_request = true;   // False: an earlier attempt of a request with a row of its own.
  bool is_probe = false;    // The gateway's own health check.
  bool has_details = true;  // The usage says how many tokens were cached (or that none were).
};

enum class RowVerdict : std::uint8_t {
  priced,         // As expected, within kRowTolerancePercent.
  off,            // Not so.
  unpriced,       // Tokens, and no cost, though the tables have a price or don't know the model.
  unknown_model,  // A cost, and no price in the tables.
  free,           // Nothing to compare: failures and cache hits without cost, no tokens.
};

// What the recorded cost of a row that is off equals within half a percent.
enum class BookedAs : std::uint8_t {
  unknown,
  peak,               // The peak price, off-peak.
  off_peak,           // The off-peak price, at peak.
  former,             // A price that was valid before.
  coming,             // A price that is valid later.
  cached_free,        // Cached input for nothing.
  cached_full,        // Cached input at the input price.
  creation_free,      // Cache creation for nothing.
  creation_as_input,  // Cache creation at the input price.
  reasoning_free,     // Reasoning for nothing.
  reasoning_twice,    // Reasoning on top of the output that holds it already.
  reasoning_only,     // Of the output only reasoning.
  input_free,         // No input at all.
  output_free,        // No output at all.
};
inline constexpr std::size_t kBookedAs = 14;
// "cached input for nothing": completes "the booked cost is that of …"; empty for unknown.
std::string_view phrase(BookedAs what);

inline constexpr std::int64_t kRowTolerancePercent = 2;

struct PricedRow {
  RowVerdict verdict = RowVerdict::free;
  BookedAs booked_as = BookedAs::unknown;
  Money expected;
  Money off_peak;  // What the row would have cost off-peak and at peak.
  Money peak;
  bool at_peak = false;
  bool outside = false;  // Off, and beyond both by more than the tolerance.
  PriceEntry entry;      // Null pointers where the tables have no price.
};

PricedRow price_row(const PriceTables& tables, const SpendRow& row);

// price_row for many rows: looks each name up once. Names are remembered up to a limit.
class RowPricer {
 public:
  explicit RowPricer(std::shared_ptr<const PriceTables> tables) : tables_(std::move(tables)) {}
  PricedRow price(const SpendRow& row);

 private:
  static constexpr std::size_t kMaxNames = 10'000;
  std::shared_ptr<const PriceTables> tables_;
  std::map<std::string, std::vector<PriceEntry>, std::less<>> entries_;
};

}  // namespace outcomed
