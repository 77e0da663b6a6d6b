// The PromQL of an exported rule.
#pragma once

#include <string>
#include <string_view>

#include "alerts/rule_export/rule_export.h"

namespace outcomed {

// The condition of one tier, over several lines:
//   (failures >= min_failures) / on (…) group_left () (requests >= min_requests) > line
// Failures without any request series count as all requests: 100 %, not nothing. For `below` a
// group without failures counts 0. Every selector must parse and every label name be valid:
// export_prometheus checks that first.
std::string alert_expression(const ExportRule& rule, const ExportTier& tier);

// "text" with PromQL's escapes.
std::string promql_string(std::string_view text);

}  // namespace outcomed
