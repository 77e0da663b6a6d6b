// Names of LiteLLM's exceptions (without the provider's prefix) and the class each belongs to.
#pragma once

#include <array>
#include <string_view>

#include "queries/error_class.h"

namespace outcomed::litellm {

struct ExceptionName {
  std::string_view exception;
  std::string_view error_class;
  // The gateway raises it before it sends anything, even where it puts a provider in front.
  bool before_sending = false;
};

inline constexpr std::array<ExceptionName, 29> kExceptionNames = {{
    {"BadRequestError", error_class::kInvalidRequest},
    {"InvalidRequestError", error_class::kInvalidRequest},
    {"ContextWindowExceededError", error_class::kInvalidRequest},
    {"UnsupportedParamsError", error_class::kInvalidRequest, true},
    {"UnprocessableEntityError", error_class::kInvalidRequest},
    {"ImageFetchError", error_class::kInvalidRequest, true},
    {"LiteLLMUnknownProvider", error_class::kInvalidRequest, true},
    {"ProxyModelNotFoundError", error_class::kInvalidRequest, true},
    {"ContentPolicyViolationError", error_class::kPolicyRejection},
    {"RejectedRequestError", error_class::kPolicyRejection, true},
    {"GuardrailRaisedException", error_class::kPolicyRejection, true},
    {"BlockedPiiEntityError", error_class::kPolicyRejection, true},
    {"AuthenticationError", error_class::kAuthentication},
    {"PermissionDeniedError", error_class::kAuthentication},
    {"NotFoundError", error_class::kModelNotFound},
    {"RateLimitError", error_class::kRateLimited},
    {"BudgetExceededError", error_class::kQuotaExhausted, true},
    {"InternalServerError", error_class::kProviderUnavailable},
    {"APIConnectionError", error_class::kProviderUnavailable},
    {"ServiceUnavailableError", error_class::kProviderUnavailable},
    {"BadGatewayError", error_class::kProviderUnavailable},
    {"MidStreamFallbackError", error_class::kProviderUnavailable},
    {"Timeout", error_class::kDeadlineExceeded},
    {"APITimeoutError", error_class::kDeadlineExceeded},
    {"APIResponseValidationError", error_class::kOutputInvalid},
    {"JSONSchemaValidationError", error_class::kOutputInvalid},
    {"RouterRateLimitError", error_class::kRouterRefusal, true},
    {"RouterRateLimitErrorBasic", error_class::kRouterRefusal, true},
    {"ProxyRateLimitError", error_class::kRouterRefusal, true},
}};

}  // namespace outcomed::litellm
