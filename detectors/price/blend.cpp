#include "detectors/price/blend.h"

#include <algorithm>

namespace outcomed {
namespace {

// A share as a ratio of whole numbers, so that money stays exact.
struct Ratio {
  std::int64_t part = 0;
  std::int64_t whole = 1;
};

std::optional<Ratio> ratio_of(const TariffCosts& costs) {
  std::int64_t part = add_held(costs.expected.nano, -costs.off_peak.nano);
  std::int64_t whole = add_held(costs.peak.nano, -costs.off_peak.nano);
  if (whole == 0) return std::nullopt;
  if (whole < 0) {
    part = -part;
    whole = -whole;
  }
  return Ratio{std::clamp<std::int64_t>(part, 0, whole), whole};
}

Money four_digits(Money amount) {
  std::int64_t step = 1;
  while (amount.nano / step >= 10'000) step *= 10;
  return {(amount.nano + step / 2) / step * step};
}

Money between(Money off_peak, Money peak, const Ratio& ratio) {
  const Money exact{off_peak.nano + scale(peak.nano - off_peak.nano, ratio.part, ratio.whole)};
  const auto [low, high] = std::minmax(off_peak, peak);
  return std::clamp(four_digits(exact), low, high);
}

std::optional<Money> between(const std::optional<Money>& off_peak, const std::optional<Money>& peak,
                             Money off_peak_default, Money peak_default, const Ratio& ratio) {
  if (!off_peak && !peak) return std::nullopt;
  return between(off_peak.value_or(off_peak_default), peak.value_or(peak_default), ratio);
}

}  // namespace

std::optional<double> peak_share(const TariffCosts& costs) {
  const auto ratio = ratio_of(costs);
  if (!ratio) return std::nullopt;
  return static_cast<double>(ratio->part) / static_cast<double>(ratio->whole);
}

std::optional<PriceBlend> blend(const TokenPrices& peak, const TokenPrices& off_peak,
                                const TariffCosts& costs, const BillableTokens& tokens) {
  const auto ratio = ratio_of(costs);
  if (!ratio || peak == off_peak) return std::nullopt;
  PriceBlend out;
  out.peak_share = *peak_share(costs);
  out.prices.input = between(off_peak.input, peak.input, *ratio);
  out.prices.output = between(off_peak.output, peak.output, *ratio);
  out.prices.cached_input =
      between(off_peak.cached_input, peak.cached_input, off_peak.input, peak.input, *ratio);
  out.prices.cache_creation =
      between(off_peak.cache_creation, peak.cache_creation, off_peak.input, peak.input, *ratio);
  out.prices.reasoning =
      between(off_peak.reasoning, peak.reasoning, off_peak.output, peak.output, *ratio);
  out.total = cost_of(out.prices, tokens);
  const std::int64_t low = cost_of(off_peak, tokens).nano;
  const std::int64_t high = cost_of(peak, tokens).nano;
  out.exact = {add_held(low, scale(high - low, ratio->part, ratio->whole))};
  return out;
}

}  // namespace outcomed
