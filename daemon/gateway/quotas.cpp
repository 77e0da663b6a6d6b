// A deployment with a daily quota among others: good until noon.
#include <fmt/core.h>

#include <charconv>

#include "daemon/config/words.h"
#include "daemon/gateway/checks.h"
#include "daemon/gateway/names.h"
#include "queries/base/glob.h"

namespace outcomed {
namespace {

// "1d", "24h", "30d", "1mo": whether the budget lasts for a day or longer.
bool is_day_or_longer(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (unit == "s") return number >= 86400;
  if (unit == "m") return number >= 1440;
  if (unit == "h") return number >= 24;
  return unit == "d" || unit == "w" || unit == "mo";
}

// What says that the deployment has such a quota; the spot is where. Nothing if it hasn't.
std::optional<std::pair<std::string, GatewaySpot>> quota_of(const GatewayDeployment& deployment,
                                                            const GatewayConfig& config,
                                                            const GatewayPolicy& policy) {
  if (any_glob_matches(policy.quota_models, deployment.model)) {
    const GatewayValue* model = value_at(deployment.params, "model");
    return std::pair(fmt::format("{} has a daily quota", shown(deployment.model)),
                     model ? model->spot : deployment.spot);
  }
  for (const std::string& key : policy.quota_settings) {
    const GatewayValue* value = deployment.setting(key);
    if (value) return std::pair(fmt::format("{} is {}", key, shown(value->text)), value->spot);
  }
  const GatewayValue* period = deployment.setting("budget_duration");
  const GatewayValue* budget = deployment.setting("max_budget");
  if (period && budget && is_day_or_longer(period->text)) {
    return std::pair(
        fmt::format("its budget is {} for {}", shown(budget->text), shown(period->text)),
        budget->spot);
  }
  const GatewayValue* provider =
      value_at(config.provider_budgets, provider_prefix(deployment.model));
  if (provider && is_day_or_longer(provider->text)) {
    return std::pair(fmt::format("its provider's budget is for {}", shown(provider->text)),
                     provider->spot);
  }
  return std::nullopt;
}

}  // namespace

GatewayFindings check_quotas(const GatewayConfig& config, const GatewayPolicy& policy) {
  GatewayFindings findings;
  for (const std::string& name : group_names(config)) {
    const std::vector<const GatewayDeployment*> members = config.group(name);
    if (members.size() < 2) continue;
    for (const GatewayDeployment* deployment : members) {
      const auto quota = quota_of(*deployment, config, policy);
      if (!quota) continue;
      findings.push_back(
          {"quota-in-group", FindingLevel::warning, quota->second,
           fmt::format("{}, and it is one of {} deployments of {}: once it is used up, this one "
                       "fails its share of the requests until the quota is renewed",
                       quota->first, members.size(), shown(name)),
           fmt::format("give it a group of its own, and name that as the fallback of {}, or the "
                       "other way round",
                       shown(name))});
    }
  }
  return findings;
}

}  // namespace outcomed
