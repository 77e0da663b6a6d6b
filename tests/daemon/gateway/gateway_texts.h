// Gateways for tests: the smallest configuration that a check has nothing to say about, and what
// the checks say about others.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/gateway/checks.h"
#include "daemon/gateway/policy.h"

namespace outcomed::testing {

// Router settings that the built-in policy is content with.
inline constexpr std::string_view kGoodRouter = R"(
router_settings:
  num_retries: 2
  retry_after: 1
  cooldown_time: 8
  allowed_fails_policy: {RateLimitErrorAllowedFails: 5}
)";

// A public group of two deployments at different providers.
inline constexpr std::string_view kGoodModels = R"(
model_list:
  - model_name: gpt-4o
    litellm_params: {model: openai/gpt-4o, api_key: os.environ/OPENAI_KEY}
  - model_name: gpt-4o
    litellm_params: {model: azure/gpt-4o, api_base: "https://x.openai.azure.com", api_key: os.environ/AZURE_KEY}
)";

// The same and a private group at a private address.
inline constexpr std::string_view kPrivateModels = R"(
model_list:
  - model_name: private/qwen
    litellm_params: {model: openai/qwen, api_base: "http://10.0.0.7:8000/v1", api_key: x, cooldown_time: 0}
  - model_name: gpt-4o
    litellm_params: {model: openai/gpt-4o, api_key: os.environ/OPENAI_KEY, cooldown_time: 0}
)";

inline GatewayFindings findings_of(const std::string& text, const GatewayPolicy& policy = {}) {
  const LoadedGateway loaded = load_gateway_text(text, "gateway.yaml");
  EXPECT_TRUE(loaded.ok()) << to_text(loaded.problems) << text;
  return run_checks(loaded.config, policy);
}

inline std::string line_of(const GatewayFinding& finding) {
  return std::to_string(finding.spot.place.line) + " " + std::string(to_string(finding.level)) +
         " " + finding.rule + " " + finding.spot.path;
}

// "LINE LEVEL CHECK PATH" of everything that fails a run.
inline std::vector<std::string> failures_in(const std::string& text,
                                            const GatewayPolicy& policy = {}) {
  std::vector<std::string> lines;
  for (const GatewayFinding& finding : findings_of(text, policy)) {
    if (finding.level != FindingLevel::note) lines.push_back(line_of(finding));
  }
  return lines;
}

// The same for the notes.
inline std::vector<std::string> notes_in(const std::string& text,
                                         const GatewayPolicy& policy = {}) {
  std::vector<std::string> lines;
  for (const GatewayFinding& finding : findings_of(text, policy)) {
    if (finding.level == FindingLevel::note) lines.push_back(line_of(finding));
  }
  return lines;
}

inline GatewayPolicy policy_of(std::string_view text) {
  const LoadedPolicy loaded = load_policy_text(text, "policy.yaml");
  EXPECT_TRUE(loaded.ok()) << to_text(loaded.problems);
  return loaded.policy;
}

}  // namespace outcomed::testing
