// One price for gateways that know no hours: between off-peak and peak by the share of the traffic
// that falls into peak hours.
#pragma once

#include <optional>

#include "queries/prices/expected.h"

namespace outcomed {

// What the same rows cost at the hours they had, all off-peak, and all at peak.
struct TariffCosts {
  Money expected;
  Money off_peak;
  Money peak;
};

// (expected − off_peak) / (peak − off_peak): the share of the cost that peak hours touch, 0 to 1.
// Nothing where both tariffs cost the same.
std::optional<double> peak_share(const TariffCosts& costs);

struct PriceBlend {
  double peak_share = 0;
  TokenPrices prices;  // Four significant digits, within the official bounds.
  Money total;         // What `tokens` cost at them.
  Money exact;         // What they cost by the hours they had, at the same tariff.
};

// The price of each class is off_peak + share · (peak − off_peak), so that these costs come out
// again. Nothing where peak and off-peak don't differ.
std::optional<PriceBlend> blend(const TokenPrices& peak, const TokenPrices& off_peak,
                                const TariffCosts& costs, const BillableTokens& tokens);

}  // namespace outcomed
