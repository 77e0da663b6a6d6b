// Names of LiteLLM's exceptions (without the provider's prefix), HTTP statuses, and the class each
// belongs to. classify.cpp judges by them, promql.cpp writes selectors of them: a name or status
// that either singles out stands here.
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

// Judged by their status, or only where no provider stands in front.
inline constexpr std::array<std::string_view, 3> kOtherExceptions = {"HTTPException", "APIError",
                                                                     "ValueError"};
// Every name that begins so is the router's own.
inline constexpr std::string_view kRouterPrefix = "Router";

struct StatusRange {
  int first;
  int last;
  std::string_view regex;  // The same codes.
  std::string_view error_class;
};

inline constexpr std::array<StatusRange, 13> kStatuses = {{
    {400, 400, "400", error_class::kInvalidRequest},
    {401, 401, "401", error_class::kAuthentication},
    {402, 402, "402", error_class::kQuotaExhausted},
    {403, 403, "403", error_class::kAuthentication},
    {404, 404, "404", error_class::kModelNotFound},
    {408, 408, "408", error_class::kDeadlineExceeded},
    {413, 413, "413", error_class::kInvalidRequest},
    {422, 422, "422", error_class::kInvalidRequest},
    {429, 429, "429", error_class::kRateLimited},
    {451, 451, "451", error_class::kPolicyRejection},
    {500, 503, "50[0-3]", error_class::kProviderUnavailable},
    {504, 504, "504", error_class::kDeadlineExceeded},
    {505, 599, "50[5-9]|5[1-9][0-9]", error_class::kProviderUnavailable},
}};

}  // namespace outcomed::litellm
