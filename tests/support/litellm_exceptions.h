// Exceptions as LiteLLM's counters carry them: every name that the gateway is known to raise and
// some that it isn't, with and without a provider, and statuses. Written out here, not taken from
// the tables under test.
#pragma once

#include <string>
#include <vector>

namespace outcomed::testing {

inline std::vector<std::string> exception_classes() {
  const std::vector<std::string> names = {
      "BadRequestError",
      "InvalidRequestError",
      "ContextWindowExceededError",
      "UnsupportedParamsError",
      "UnprocessableEntityError",
      "ImageFetchError",
      "LiteLLMUnknownProvider",
      "ProxyModelNotFoundError",
      "ContentPolicyViolationError",
      "RejectedRequestError",
      "GuardrailRaisedException",
      "BlockedPiiEntityError",
      "AuthenticationError",
      "PermissionDeniedError",
      "NotFoundError",
      "RateLimitError",
      "BudgetExceededError",
      "InternalServerError",
      "APIConnectionError",
      "APIError",
      "ServiceUnavailableError",
      "BadGatewayError",
      "MidStreamFallbackError",
      "Timeout",
      "APITimeoutError",
      "APIResponseValidationError",
      "JSONSchemaValidationError",
      "RouterRateLimitError",
      "RouterRateLimitErrorBasic",
      "RouterSomethingNew",
      "ProxyRateLimitError",
      "ProxyException",
      "HTTPException",
      "ValueError",
      "TypeError",
      "Exception",
      "SomethingNew",
      "MyTimeout",  // Ends or begins like a known name.
      "TimeoutOfMine",
  };
  std::vector<std::string> classes = {"", "None", "Vertex_ai.beta.RateLimitError", "Openai.", "."};
  for (const std::string& name : names) {
    classes.push_back(name);
    classes.push_back("Openai." + name);
  }
  return classes;
}

// Those that differ in class, and some beside them.
inline std::vector<std::string> exception_statuses() {
  return {"",    "None", "200", "400", "401", "402",  "403",  "404", "405", "408",
          "409", "413",  "422", "429", "451", "499",  "500",  "501", "503", "504",
          "505", "529",  "599", "600", "abc", "0429", "4290", "-400"};
}

}  // namespace outcomed::testing
