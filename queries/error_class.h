// Error classes of our own, the same for every gateway and version. Names are stable: they stand in
// configurations, alerts and history.
#pragma once

#include <string_view>

namespace outcomed::error_class {

inline constexpr std::string_view kInvalidRequest = "invalid_request";
inline constexpr std::string_view kPolicyRejection = "policy_rejection";
inline constexpr std::string_view kAuthentication = "authentication";
inline constexpr std::string_view kModelNotFound = "model_not_found";
inline constexpr std::string_view kRateLimited = "rate_limited";
inline constexpr std::string_view kQuotaExhausted = "quota_exhausted";
inline constexpr std::string_view kProviderUnavailable = "provider_unavailable";
inline constexpr std::string_view kDeadlineExceeded = "deadline_exceeded";
inline constexpr std::string_view kOutputInvalid = "output_invalid";
inline constexpr std::string_view kRouterRefusal = "router_refusal";
inline constexpr std::string_view kUnknown = "unknown";

// What happened, to follow "71 of 77 requests failed …": "refused by the gateway's router". Empty
// for classes that are not ours.
std::string_view phrase(std::string_view error_class);

}  // namespace outcomed::error_class
