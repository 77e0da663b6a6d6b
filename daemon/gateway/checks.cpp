#include "daemon/gateway/checks.h"

#include <algorithm>
#include <set>

#include "daemon/gateway/names.h"

namespace outcomed {

GatewayFindings run_checks(const GatewayConfig& config, const GatewayPolicy& policy) {
  GatewayFindings all;
  for (const auto check : {check_cooldowns, check_retries, check_privacy, check_health_checks,
                           check_prices, check_reserves, check_quotas, check_file}) {
    for (GatewayFinding& finding : check(config, policy)) {
      const auto own = policy.checks.find(finding.rule);
      if (own != policy.checks.end()) {
        if (!own->second.enabled) continue;
        finding.level = own->second.level.value_or(finding.level);
      }
      finding.main_file = config.file;
      all.push_back(std::move(finding));
    }
  }
  sort_findings(all);
  return all;
}

std::vector<std::string> group_names(const GatewayConfig& config) {
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const GatewayDeployment& deployment : config.deployments) {
    if (seen.insert(deployment.group.text).second) names.push_back(deployment.group.text);
  }
  return names;
}

bool is_in_the_house(const GatewayDeployment& deployment, const GatewayPolicy& policy) {
  const GatewayValue* address = deployment.address();
  if (!address) return false;
  if (const auto variable = environment_name(address->text)) {
    return std::ranges::find(policy.private_variables, *variable) != policy.private_variables.end();
  }
  const std::optional<std::string> host = url_host(address->text);
  return host && is_private_host(*host, policy.private_hosts());
}

}  // namespace outcomed
