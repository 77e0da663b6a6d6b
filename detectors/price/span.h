// What a gateway booked in a span of time against the price tables, name by name: `report prices`.
// Pure. Costs, limits and blend are those of the rule kind `price`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detectors/price/blend.h"
#include "detectors/price/price.h"
#include "queries/prices/spend.h"
#include "queries/source.h"

namespace outcomed {

// One of the gateway's names for one of a provider's models.
struct PricedName {
  std::string model;           // The gateway's; empty where the signal has no such label.
  std::string provider_model;  // As the rows name it; likewise.
  SpendAmounts amounts;
  SpendAmounts recent;              // Of the last 28 days of the span,
  std::set<std::int64_t> days;      // which had amounts on these (UTC, since the epoch).
  std::optional<PriceEntry> entry;  // Valid at the end of the span.
};
// "chat (deepseek/deepseek-chat)"
std::string to_text(const PricedName& name);

enum class PriceFindingKind : std::uint8_t {
  ratio,             // Recorded ÷ expected is out of tolerance.
  rows_off,          // Rows are off by more than 2 %.
  outside_bounds,    // Rows lie beyond both off-peak and peak.
  class_unbilled,    // A class of tokens was booked for nothing.
  price_missing,     // Tokens, and no cost.
  price_unknown,     // A cost, and no price in the tables.
  tokens_estimated,  // Some rows lack the token details that others have.
  names_differ,      // Names of one provider model have different ratios.
  table_old,         // The price table was read too long ago.
};
std::string_view to_string(PriceFindingKind kind);

struct PriceFinding {
  PriceFindingKind kind{};
  std::string subject;  // A name, a provider's model, or a provider.
  std::string message;
};

// One price for all hours for a provider's model, from the last 28 days of the span.
struct ModelBlend {
  PriceEntry entry;
  int days = 0;  // Of them with traffic.
  PriceBlend blend;
  Money booked;  // For the same rows.
};

struct PriceSpanReport {
  std::vector<PricedName> names;  // By provider_model, then model.
  SpendAmounts total;
  std::vector<PriceFinding> findings;
  std::vector<ModelBlend> blends;
  Duration unknown{};  // Time without complete data; nothing of it is counted.
};

class PriceSpan {
 public:
  // `tables` is not null; `params` say the limits: tolerance, rows_off, unpriced, without_details,
  // blended, min_requests, min_rows, least_cost.
  PriceSpan(TimeRange range, std::shared_ptr<const PriceTables> tables, PriceParams params);

  // Buckets of the signal `spend`, with the label `kind`; pieces of the range in any order.
  void add(const SignalBatch& batch, const std::vector<Labels>& cells);
  // Of the names whose gateway's or provider's model is `model`; of all where it is empty.
  [[nodiscard]] PriceSpanReport report(std::string_view model = {}) const;

 private:
  void add_findings(const PricedName& name, PriceSpanReport& report) const;
  // Of names of one provider model.
  void add_shared(const std::vector<const PricedName*>& names, PriceSpanReport& report) const;

  TimeRange range_;
  std::shared_ptr<const PriceTables> tables_;
  PriceParams params_;
  std::map<std::pair<std::string, std::string>, PricedName> names_;  // provider_model, model.
  Duration unknown_{};
};

}  // namespace outcomed
