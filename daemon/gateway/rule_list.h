// What `outcomed gateway check` looks at: one entry for each kind of finding.
#pragma once

#include <span>
#include <string_view>

#include "daemon/gateway/finding.h"

namespace outcomed {

struct GatewayRule {
  std::string_view id;
  FindingLevel level;      // The most serious it has by itself.
  std::string_view title;  // What must hold, a short sentence.
  std::string_view why;    // What happens otherwise.
};

std::span<const GatewayRule> rule_list();
// Null for an unknown id.
const GatewayRule* find_rule(std::string_view id);

}  // namespace outcomed
