// An outcome as a person reads it, built from the counts.
#pragma once

#include <string>

#include "detectors/absorption/outcome.h"

namespace outcomed {

// "consumers fail (71 of 77 requests, 92 %) while the provider answers (0 of 12 attempts failed) in
// the last 1h: …". `span` is "in the last 1h", `unit` what consumers send. No full stop.
std::string describe_absorption(const SideCounts& counts, AbsorptionOutcome outcome,
                                const std::string& span, const std::string& unit);

// What a reader must know of the attempts' numbers.
inline constexpr const char* kAttemptsAreALowerBound =
    "a lower bound: gateways count few of their retries, so more attempts may have failed";

}  // namespace outcomed
