#include "queries/prices/spend.h"

#include <algorithm>

namespace outcomed {
namespace {

constexpr std::array<std::string_view, kSpendKinds> kNames = {"requests",
                                                              "recorded_cost",
                                                              "prompt_tokens",
                                                              "cached_tokens",
                                                              "cache_creation_tokens",
                                                              "completion_tokens",
                                                              "reasoning_tokens",
                                                              "expected_cost",
                                                              "expected_off_peak",
                                                              "expected_peak",
                                                              "rows_priced",
                                                              "rows_off",
                                                              "rows_unpriced",
                                                              "rows_unknown",
                                                              "rows_outside",
                                                              "rows_bare",
                                                              "unmatched_cost",
                                                              "booked_peak",
                                                              "booked_off_peak",
                                                              "booked_former",
                                                              "booked_coming",
                                                              "booked_cached_free",
                                                              "booked_cached_full",
                                                              "booked_creation_free",
                                                              "booked_creation_as_input",
                                                              "booked_reasoning_free",
                                                              "booked_reasoning_twice",
                                                              "booked_reasoning_only",
                                                              "booked_input_free",
                                                              "booked_output_free",
                                                              "successes"};

std::optional<SpendKind> verdict_kind(RowVerdict verdict) {
  switch (verdict) {
    case RowVerdict::priced:
      return SpendKind::rows_priced;
    case RowVerdict::off:
      return SpendKind::rows_off;
    case RowVerdict::unpriced:
      return SpendKind::rows_unpriced;
    case RowVerdict::unknown_model:
      return SpendKind::rows_unknown;
    case RowVerdict::free:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(SpendKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::optional<SpendKind> spend_kind(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<SpendKind>(found - kNames.begin());
}

std::optional<SpendKind> spend_kind(BookedAs what) {
  if (what == BookedAs::unknown) return std::nullopt;
  return static_cast<SpendKind>(static_cast<std::size_t>(SpendKind::booked_peak) +
                                static_cast<std::size_t>(what) - 1);
}

void SpendAmounts::add(const SpendRow& row, const PricedRow& priced) {
  if (row.is_request) add(SpendKind::requests, 1);
  if (row.is_request && !row.failed && !row.is_probe) add(SpendKind::successes, 1);
  add(SpendKind::recorded_cost, row.recorded.nano);
  if (priced.entry.model == nullptr) add(SpendKind::unmatched_cost, row.recorded.nano);
  const auto kind = verdict_kind(priced.verdict);
  if (!kind) return;
  add(*kind, 1);
  add(SpendKind::prompt_tokens, std::max<std::int64_t>(row.tokens.prompt, 0));
  add(SpendKind::cached_tokens, std::max<std::int64_t>(row.tokens.cached, 0));
  add(SpendKind::cache_creation_tokens, std::max<std::int64_t>(row.tokens.cache_creation, 0));
  add(SpendKind::completion_tokens, std::max<std::int64_t>(row.tokens.completion, 0));
  add(SpendKind::reasoning_tokens, std::max<std::int64_t>(row.tokens.reasoning, 0));
  add(SpendKind::expected_cost, priced.expected.nano);
  add(SpendKind::expected_off_peak, priced.off_peak.nano);
  add(SpendKind::expected_peak, priced.peak.nano);
  if (priced.outside) add(SpendKind::rows_outside, 1);
  if (!row.has_details) add(SpendKind::rows_bare, 1);
  if (priced.verdict != RowVerdict::off) return;
  if (const auto booked = spend_kind(priced.booked_as)) add(*booked, 1);
}

}  // namespace outcomed
