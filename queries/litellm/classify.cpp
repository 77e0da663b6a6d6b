#include "queries/litellm/classify.h"

#include <algorithm>
#include <charconv>

#include "queries/error_class.h"
#include "queries/litellm/exception_names.h"

namespace outcomed::litellm {
namespace {

using namespace error_class;  // NOLINT: this file is about nothing else.

std::string_view by_status(std::string_view status) {
  int code = 0;
  const auto [end, error] = std::from_chars(status.data(), status.data() + status.size(), code);
  const bool is_code = error == std::errc() && end == status.data() + status.size();
  if (!is_code || status.size() != 3) return kUnknown;
  const auto found = std::ranges::find_if(kStatuses, [code](const StatusRange& range) {
    return range.first <= code && code <= range.last;
  });
  return found == kStatuses.end() ? kUnknown : found->error_class;
}

struct Exception {
  std::string_view name;
  bool of_provider = false;
};

Exception split(std::string_view exception_class) {
  const auto dot = exception_class.rfind('.');
  if (dot == std::string_view::npos) return {exception_class, false};
  return {exception_class.substr(dot + 1), true};
}

const ExceptionName* find_name(std::string_view name) {
  const auto found = std::ranges::find(kExceptionNames, name, &ExceptionName::exception);
  return found == kExceptionNames.end() ? nullptr : &*found;
}

}  // namespace

std::string_view refusal_cause(std::string_view exception_class, std::string_view status) {
  const auto [name, of_provider] = split(exception_class);
  if (name == "RouterRateLimitErrorBasic") return "deployment_cap";
  if (name.starts_with(kRouterPrefix)) return "cooldown";
  if (of_provider) return {};
  if (name == "RateLimitError") return "deployment_cap";
  if (name == "ProxyRateLimitError" || (name == "HTTPException" && status == "429")) {
    return "key_limit";
  }
  if (name == "BudgetExceededError") return "budget";
  if (name == "ValueError") return "routing";
  return {};
}

std::string_view classify(std::string_view exception_class, std::string_view status) {
  const auto [name, of_provider] = split(exception_class);
  const std::string_view cause = refusal_cause(exception_class, status);
  if (cause == "budget") return kQuotaExhausted;
  if (!cause.empty()) return kRouterRefusal;
  if (name == "HTTPException" && status == "400") return kPolicyRejection;  // Guardrails.
  if (const ExceptionName* known = find_name(name)) return known->error_class;
  // Names of the gateway's own bugs (TypeError, KeyError …) come without a provider.
  if (!of_provider && name != "HTTPException" && name != "APIError") return kUnknown;
  return by_status(status);
}

bool reached_provider(std::string_view exception_class, std::string_view status) {
  const auto [name, of_provider] = split(exception_class);
  if (!of_provider || !refusal_cause(exception_class, status).empty()) return false;
  const ExceptionName* known = find_name(name);
  return known == nullptr || !known->before_sending;
}

}  // namespace outcomed::litellm
