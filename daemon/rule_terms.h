// A share rule as PromQL: which selectors its signal reads and how their labels are named there.
#pragma once

#include "alerts/rule_export/rule_export.h"
#include "daemon/config/config.h"

namespace outcomed {

// Only rules of kind `share` on signals of counters. `divisor`: how often the gateway counts a
// failed request (2 before LiteLLM 1.81.14), since a rule file can't learn it. Errors say which
// rule can't be written and why.
Result<ExportRule> export_rule(const RuleConfig& rule, const SignalPlan& plan, bool of_litellm,
                               int divisor);

}  // namespace outcomed
