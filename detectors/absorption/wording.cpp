#include "detectors/absorption/wording.h"

#include <fmt/core.h>

#include <algorithm>

#include "detectors/sentence.h"

namespace outcomed {
namespace {

// "66 of 66 requests (100 %)"
std::string of(std::int64_t k, std::int64_t n, const std::string& unit) {
  if (n <= 0) return fmt::format("{} of {} {}", k, n, unit);
  return fmt::format("{} of {} {} ({})", k, n, unit,
                     format_share(static_cast<double>(k) / static_cast<double>(n)));
}

std::string attempts_of(const SideCounts& counts) {
  if (counts.attempts == 0) return "no attempt was counted";
  return of(counts.provider_failures, counts.attempts, "attempts") + " failed";
}

std::string parts_of(const SideCounts& counts) {
  std::string text;
  if (counts.rejected > 0) {
    text += fmt::format(", {} rejected by the provider (limits, credentials or model name)",
                        counts.rejected);
  }
  if (counts.refused > 0)
    text += fmt::format(", {} refused by the gateway's router", counts.refused);
  return text;
}

std::string leaking(const SideCounts& counts, const std::string& span, const std::string& unit) {
  std::string text = "provider failures reach consumers: ";
  if (counts.provider_failures < counts.passed_on) {
    text += fmt::format("{} {} got the provider's error ({}), ", counts.passed_on, unit,
                        attempts_of(counts));
  } else {
    text += attempts_of(counts) + ", ";
  }
  return text +
         fmt::format("{} failed {}", of(counts.consumer_failures, counts.requests, unit), span) +
         parts_of(counts);
}

std::string self_inflicted(const SideCounts& counts, const std::string& span,
                           const std::string& unit) {
  std::string text = fmt::format(
      "consumers fail ({} of {} {}, {}) while ", counts.consumer_failures, counts.requests, unit,
      format_share(static_cast<double>(counts.consumer_failures) /
                   static_cast<double>(std::max<std::int64_t>(1, counts.requests))));
  text += counts.attempts == 0 ? std::string("no attempt at the provider was counted")
                               : fmt::format("the provider answers ({} of {} attempts failed)",
                                             counts.provider_failures, counts.attempts);
  return text + fmt::format(" {}: the gateway inflicts it on itself", span) + parts_of(counts);
}

}  // namespace

std::string describe_absorption(const SideCounts& counts, AbsorptionOutcome outcome,
                                const std::string& span, const std::string& unit) {
  switch (outcome) {
    case AbsorptionOutcome::leaking:
      return leaking(counts, span, unit);
    case AbsorptionOutcome::self_inflicted:
      return self_inflicted(counts, span, unit);
    case AbsorptionOutcome::rejected:
      return fmt::format("the provider answers but rejects: {} failed {}",
                         of(counts.consumer_failures, counts.requests, unit), span) +
             parts_of(counts);
    case AbsorptionOutcome::absorbed:
      return fmt::format("the gateway absorbs the provider's failures: {}, but only {} {}",
                         attempts_of(counts), of(counts.consumer_failures, counts.requests, unit),
                         span);
    case AbsorptionOutcome::too_few:
      return fmt::format("too few {} to judge {}: {} failed, {}", unit, span,
                         of(counts.consumer_failures, counts.requests, unit), attempts_of(counts));
    case AbsorptionOutcome::healthy:
      break;
  }
  return fmt::format("{} failed {}, {}", of(counts.consumer_failures, counts.requests, unit), span,
                     attempts_of(counts));
}

}  // namespace outcomed
