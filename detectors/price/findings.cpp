#include "detectors/price/findings.h"

#include <algorithm>

namespace outcomed {
namespace {

// A week knows all its hours; from then on 28 days can be judged, of a blended price or before.
constexpr int kDaysForBlend = 7;

// An edge of 2 % must not be crossed by rounding.
bool is_below(double part, double whole, double share) {
  return part < whole * share * (1 - 1e-12);
}
bool is_above(double part, double whole, double share) {
  return part > whole * share * (1 + 1e-12);
}

void judge_ratio(const ComparedCosts& costs, double tolerance, PriceFindings& findings) {
  const auto recorded = static_cast<double>(costs.recorded.nano);
  const auto expected = static_cast<double>(costs.expected.nano);
  findings.low = is_below(recorded, expected, 1 - tolerance);
  findings.high = is_above(recorded, expected, 1 + tolerance);
}

bool crosses(std::int64_t rows, std::int64_t of, const std::optional<double>& line,
             std::int64_t least) {
  return line && rows >= least &&
         is_above(static_cast<double>(rows), static_cast<double>(of), *line);
}

}  // namespace

double ComparedCosts::ratio() const {
  constexpr double kMost = 1000;
  if (expected.nano <= 0) return recorded.nano > 0 ? kMost : 1;
  return std::min(kMost, static_cast<double>(recorded.nano) / static_cast<double>(expected.nano));
}

ComparedCosts compared(const SpendAmounts& amounts) {
  return {judged_rows(amounts),
          {add_held(amounts.of(SpendKind::recorded_cost), -amounts.of(SpendKind::unmatched_cost))},
          {amounts.of(SpendKind::expected_cost)}};
}

std::int64_t judged_rows(const SpendAmounts& amounts) {
  const std::int64_t rows =
      add_held(add_held(amounts.of(SpendKind::rows_priced), amounts.of(SpendKind::rows_off)),
               amounts.of(SpendKind::rows_unpriced));
  return rows > 0 || amounts.of(SpendKind::rows_unknown) > 0 ? rows
                                                             : amounts.of(SpendKind::requests);
}

std::int64_t wrong_rows(const SpendAmounts& amounts, const PriceParams& params) {
  return amounts.of(params.blended ? SpendKind::rows_outside : SpendKind::rows_off);
}

double SuccessCost::each() const {
  return successes > 0 ? static_cast<double>(recorded.nano) / static_cast<double>(successes) : 0;
}

SuccessCost success_cost(const SpendAmounts& amounts) {
  return {amounts.of(SpendKind::successes), {amounts.of(SpendKind::recorded_cost)}};
}

SpendAmounts without(const SpendAmounts& days, const SpendAmounts& window) {
  SpendAmounts rest;
  for (std::size_t i = 0; i < kSpendKinds; ++i) {
    rest.values[i] = std::max<std::int64_t>(0, add_held(days.values[i], -window.values[i]));
  }
  return rest;
}

void judge_successes(const SuccessCost& now, const SuccessCost& before, int known_days,
                     const PriceParams& params, PriceFindings& findings) {
  if (now.successes < params.min_requests) return;
  if (params.most_per_success) {
    findings.dear = is_above(now.each(), static_cast<double>(params.most_per_success->nano), 1);
  }
  if (params.dearer && known_days >= kDaysForBlend && before.successes >= params.min_requests &&
      before.recorded.nano > 0) {
    findings.dearer = is_above(now.each(), before.each(), 1 + *params.dearer);
  }
}

bool is_about_successes(const PriceFindings& findings, const PriceParams& params) {
  if (!params.judges_successes() || findings.of_prices()) return false;
  return findings.of_successes() || !params.against_prices;
}

PriceFindings find_in(const SpendAmounts& amounts, const SpendAmounts& days, int known_days,
                      const PriceParams& params) {
  PriceFindings findings;
  const std::int64_t rows = judged_rows(amounts);
  if (params.tolerance && (!params.blended || known_days >= kDaysForBlend)) {
    judge_ratio(compared(params.blended ? days : amounts), *params.tolerance, findings);
  }
  findings.rows = crosses(wrong_rows(amounts, params), rows, params.rows_off, params.min_rows);
  findings.unpriced =
      crosses(amounts.of(SpendKind::rows_unpriced), rows, params.unpriced, params.min_rows);
  const std::int64_t bare = amounts.of(SpendKind::rows_bare);
  findings.estimated = bare < rows && crosses(bare, rows, params.without_details, params.min_rows);
  return findings;
}

std::optional<std::pair<NamedCosts, NamedCosts>> unlike_names(const std::vector<NamedCosts>& names,
                                                              const PriceParams& params) {
  std::optional<std::pair<NamedCosts, NamedCosts>> found;
  for (const NamedCosts& name : names) {
    if (name.costs.rows < params.min_requests || name.costs.expected.nano <= 0) continue;
    if (!found) found.emplace(name, name);
    if (name.costs.ratio() < found->first.costs.ratio()) found->first = name;
    if (name.costs.ratio() > found->second.costs.ratio()) found->second = name;
  }
  if (!found || !params.tolerance) return std::nullopt;
  const double low = found->first.costs.ratio();
  const double high = found->second.costs.ratio();
  return high - low > *params.tolerance * (1 + 1e-9) ? found : std::nullopt;
}

}  // namespace outcomed
