#include "queries/failure_side.h"

#include "queries/error_class.h"

namespace outcomed::failure_side {

bool is_callers_error(std::string_view error_class) {
  return error_class == error_class::kInvalidRequest ||
         error_class == error_class::kPolicyRejection;
}

bool is_provider_failure(std::string_view error_class) {
  return error_class == error_class::kProviderUnavailable ||
         error_class == error_class::kDeadlineExceeded;
}

std::string_view of_failure(std::string_view error_class, bool refused) {
  if (is_callers_error(error_class)) return {};
  if (refused || error_class == error_class::kRouterRefusal) return kRefused;
  if (is_provider_failure(error_class)) return kPassedOn;
  if (error_class == error_class::kAuthentication || error_class == error_class::kModelNotFound ||
      error_class == error_class::kRateLimited || error_class == error_class::kQuotaExhausted) {
    return kRejected;
  }
  return {};
}

}  // namespace outcomed::failure_side
