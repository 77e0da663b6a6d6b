// What the file itself doesn't tell, or tells in vain.
#include <fmt/core.h>

#include <array>

#include "daemon/config/words.h"
#include "daemon/gateway/checks.h"
#include "daemon/gateway/names.h"

namespace outcomed {
namespace {

// Settings that a check needs as a number, or as true or false.
void check_readable(const GatewayValue* value, bool as_a_flag, GatewayFindings& findings) {
  if (!value || (as_a_flag ? as_flag(*value).has_value() : as_number(*value).has_value())) return;
  if (const auto variable = environment_name(value->text)) {
    findings.push_back(
        {"file-unknown-value", FindingLevel::note, value->spot,
         fmt::format("the value stands in the environment ({}) and is not judged", *variable),
         "write the value here, or check it where it is set"});
    return;
  }
  findings.push_back(
      {"file-unread-setting", FindingLevel::warning, value->spot,
       fmt::format("{} is not {}", shown(value->text), as_a_flag ? "true or false" : "a number"),
       as_a_flag ? "write true or false" : "write a number without a unit"});
}

void check_values(const GatewayConfig& config, GatewayFindings& findings) {
  for (const std::string_view key : {"allowed_fails", "num_retries"}) {
    check_readable(config.router_or_litellm(key), false, findings);
  }
  for (const std::string_view key : {"cooldown_time", "retry_after"}) {
    check_readable(value_at(config.router, key), false, findings);
  }
  check_readable(value_at(config.general, "background_health_checks"), true, findings);
  for (const GatewayValues* classes : {&config.allowed_fails_policy, &config.retry_policy}) {
    for (const auto& [name, value] : *classes) check_readable(&value, false, findings);
  }
  for (const GatewayDeployment& deployment : config.deployments) {
    for (const std::string_view key : {"cooldown_time", "allowed_fails", "input_cost_per_token",
                                       "output_cost_per_token", "cache_read_input_token_cost"}) {
      check_readable(deployment.setting(key), false, findings);
    }
  }
}

}  // namespace

GatewayFindings check_file(const GatewayConfig& config, const GatewayPolicy&) {
  GatewayFindings findings;
  for (const ConfigProblem& twice : config.duplicates) {
    findings.push_back({"file-duplicate-key",
                        FindingLevel::warning,
                        {twice.file, {twice.line, twice.column}, twice.path},
                        twice.message + "; the gateway takes the last one",
                        twice.hint});
  }
  for (const GatewayUnread& unread : config.unread) {
    findings.push_back({"file-unread-setting",
                        unread.harmless ? FindingLevel::note : FindingLevel::warning, unread.spot,
                        unread.reason, unread.remedy});
  }
  check_values(config, findings);
  const GatewayValue* database = value_at(config.general, "store_model_in_db");
  if (database && as_flag(*database) != false) {
    findings.push_back(
        {"file-database", FindingLevel::note, database->spot,
         "deployments and router settings kept in the database are not in this file and not judged",
         "keep private groups and their fallbacks in the file, or look at /model/info too"});
  }
  return findings;
}

}  // namespace outcomed
