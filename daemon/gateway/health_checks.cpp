// Background health checks are completions; somebody pays for them.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "daemon/config/words.h"
#include "daemon/gateway/checks.h"

namespace outcomed {
namespace {

constexpr std::array<std::string_view, 2> kMainPrices = {"input_cost_per_token",
                                                         "output_cost_per_token"};

// At a private address without a price, or with prices of zero.
bool is_free(const GatewayDeployment& deployment, const GatewayPolicy& policy) {
  bool priced = false;
  for (const std::string_view key : kMainPrices) {
    const GatewayValue* price = deployment.setting(key);
    if (!price) continue;
    priced = true;
    if (as_number(*price) != 0.0) return false;
  }
  if (priced) return true;
  return is_in_the_house(deployment, policy);
}

}  // namespace

GatewayFindings check_health_checks(const GatewayConfig& config, const GatewayPolicy& policy) {
  GatewayFindings findings;
  const GatewayValue* on = value_at(config.general, "background_health_checks");
  if (!on || as_flag(*on) == false) return findings;
  const double interval = number_at(config.general, "health_check_interval").value_or(300);
  const double daily = interval > 0 ? 86400 / interval : 0;
  for (const GatewayDeployment& deployment : config.deployments) {
    if (is_free(deployment, policy)) continue;
    if (flag_at(deployment.info, "disable_background_health_check").value_or(false)) continue;
    findings.push_back(
        {"health-check-billed", as_flag(*on) ? FindingLevel::error : FindingLevel::warning,
         deployment.spot,
         fmt::format("{} ({}) costs money, and background_health_checks {} it every {:g} s: {:.0f} "
                     "billed calls a day",
                     shown(deployment.group.text), shown(deployment.model),
                     as_flag(*on) ? "calls" : "may call (its value isn't in this file)", interval,
                     daily),
         "write model_info.disable_background_health_check: true, or switch "
         "general_settings.background_health_checks off and probe /health/liveliness"});
  }
  return findings;
}

}  // namespace outcomed
