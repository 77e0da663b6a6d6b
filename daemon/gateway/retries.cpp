// A 429 of the provider is tried again, after a pause.
#include <fmt/core.h>

#include "daemon/config/words.h"
#include "daemon/gateway/checks.h"

namespace outcomed {
namespace {

constexpr std::string_view kRateLimitRetries = "RateLimitErrorRetries";

void check_number(const GatewayValue* value, const GatewayPolicy& policy, const std::string& who,
                  GatewayFindings& findings) {
  const std::optional<double> retries = value ? as_number(*value) : std::nullopt;
  if (!retries || *retries >= static_cast<double>(policy.min_rate_limit_retries)) return;
  findings.push_back(
      {"retry-rate-limit", FindingLevel::error, value->spot,
       fmt::format("a 429 of the provider {} {}; the policy wants at least {}",
                   *retries == 0 ? "reaches the client at once, without a retry,"
                                 : fmt::format("is tried again {:g} times", *retries),
                   who, policy.min_rate_limit_retries),
       fmt::format("write {} or more", policy.min_rate_limit_retries)});
}

}  // namespace

GatewayFindings check_retries(const GatewayConfig& config, const GatewayPolicy& policy) {
  GatewayFindings findings;
  if (config.deployments.empty()) return findings;
  // A policy by class counts instead of num_retries.
  const GatewayValue* retries = value_at(config.retry_policy, kRateLimitRetries);
  if (!retries) retries = config.router_or_litellm("num_retries");
  check_number(retries, policy, "in every group", findings);
  for (const auto& [group, values] : config.group_retry_policies) {
    check_number(value_at(values, kRateLimitRetries), policy, "in " + shown(group), findings);
  }
  const double pause = std::chrono::duration<double>(policy.min_pause).count();
  const GatewayValue* written = value_at(config.router, "retry_after");
  const std::optional<double> seconds = written ? as_number(*written) : std::optional<double>(0.0);
  if (seconds && *seconds < pause) {
    findings.push_back(
        {"retry-pause", FindingLevel::warning, written ? written->spot : config.router_spot,
         fmt::format("{}: a 429 may be tried again at once and meet the same limit; the policy "
                     "wants a pause of {}",
                     written ? fmt::format("retry_after is {:g} s", *seconds)
                             : "retry_after is not set, so it is 0",
                     format_duration(policy.min_pause)),
         fmt::format("write router_settings.retry_after: {:g}", std::max(pause, 1.0))});
  }
  return findings;
}

}  // namespace outcomed
