#include "queries/error_class.h"

#include <array>
#include <utility>

namespace outcomed::error_class {

std::string_view phrase(std::string_view error_class) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kPhrases = {{
      {kInvalidRequest, "rejected as invalid requests of the caller"},
      {kPolicyRejection, "rejected by a content policy"},
      {kAuthentication, "rejected by the provider's authentication"},
      {kModelNotFound, "because the provider no longer knows the model"},
      {kRateLimited, "rate-limited by the provider"},
      {kQuotaExhausted, "refused because a budget or quota is exhausted"},
      {kProviderUnavailable, "because the provider answered with server errors"},
      {kDeadlineExceeded, "because the provider did not answer in time"},
      {kOutputInvalid, "because the provider's answer was unusable"},
      {kRouterRefusal, "refused by the gateway's router (no deployment available)"},
  }};
  for (const auto& [name, text] : kPhrases) {
    if (name == error_class) return text;
  }
  return {};
}

}  // namespace outcomed::error_class
