// The sides of signal `absorption`: where a request or an attempt failed, and who made it fail. The
// values of its label `side` are stable: recordings and configurations hold them.
#pragma once

#include <string_view>

namespace outcomed::failure_side {

inline constexpr std::string_view kLabel = "side";

// n: requests of consumers; k: those that failed for them, callers' own errors left out.
inline constexpr std::string_view kConsumer = "consumer";
// n: attempts at the provider; k: those that ended in a 5xx, a lost connection or a timeout.
inline constexpr std::string_view kProvider = "provider";
// Why consumers' requests failed; n = k, parts of the consumer's k. What is in none of them has
// another cause (an unusable answer, a bug of the gateway).
inline constexpr std::string_view kRefused = "refused";     // The gateway itself said no.
inline constexpr std::string_view kRejected = "rejected";   // The provider said no: 401, 404, 429.
inline constexpr std::string_view kPassedOn = "passed_on";  // The provider's 5xx or timeout.

// The part of consumers' failures that a failure of this class belongs to; `refused`: the gateway
// refused the request by itself (its own budgets and limits share classes with the provider's).
// Empty: another cause, or (invalid_request, policy_rejection) no failure of ours.
std::string_view of_failure(std::string_view error_class, bool refused);

// True for the callers' own errors, which are no failures on any side.
bool is_callers_error(std::string_view error_class);

// True for what counts as k of the provider.
bool is_provider_failure(std::string_view error_class);

}  // namespace outcomed::failure_side
