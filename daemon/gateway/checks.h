// The checks, one file for each subject. Each is a pure function of the gateway's configuration and
// the policy; switches and levels of the policy are applied by run_checks().
#pragma once

#include <string>
#include <vector>

#include "daemon/gateway/finding.h"
#include "daemon/gateway/model.h"
#include "daemon/gateway/policy.h"

namespace outcomed {

using GatewayFindings = std::vector<GatewayFinding>;

GatewayFindings check_cooldowns(const GatewayConfig& config, const GatewayPolicy& policy);
GatewayFindings check_retries(const GatewayConfig& config, const GatewayPolicy& policy);
GatewayFindings check_privacy(const GatewayConfig& config, const GatewayPolicy& policy);
GatewayFindings check_health_checks(const GatewayConfig& config, const GatewayPolicy& policy);
GatewayFindings check_prices(const GatewayConfig& config, const GatewayPolicy& policy);
GatewayFindings check_reserves(const GatewayConfig& config, const GatewayPolicy& policy);
GatewayFindings check_quotas(const GatewayConfig& config, const GatewayPolicy& policy);
// What the file itself doesn't tell, or tells in vain.
GatewayFindings check_file(const GatewayConfig& config, const GatewayPolicy& policy);

// All of them, sorted by place.
GatewayFindings run_checks(const GatewayConfig& config, const GatewayPolicy& policy);

// The names of groups in the order of the file, each once.
std::vector<std::string> group_names(const GatewayConfig& config);

// Whether its address is private, or one in the environment that the policy vouches for.
bool is_in_the_house(const GatewayDeployment& deployment, const GatewayPolicy& policy);

}  // namespace outcomed
