// A LiteLLM proxy configuration as far as it is judged: what the gateway makes of the file, each
// value with its place. Keys that no check asks for are kept as they are and are nobody's business.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/problem.h"
#include "daemon/gateway/finding.h"

namespace outcomed {

// A value as text ("os.environ/NAME" stays that text) and where it stands.
struct GatewayValue {
  std::string text;
  GatewaySpot spot;
  bool quoted = false;
};

// The plain values of one mapping. Nulls are left out, as the gateway reads them as "not set".
using GatewayValues = std::map<std::string, GatewayValue, std::less<>>;

const GatewayValue* value_at(const GatewayValues& values, std::string_view key);
// As Python would convert them (float(), YAML 1.1's yes/no/on/off). Nothing where the value is
// absent, comes from the environment or is something else.
std::optional<double> number_at(const GatewayValues& values, std::string_view key);
std::optional<bool> flag_at(const GatewayValues& values, std::string_view key);
std::optional<double> as_number(const GatewayValue& value);
std::optional<bool> as_flag(const GatewayValue& value);

struct GatewayDeployment {
  GatewayValue group;                  // model_name: a name or a wildcard such as openai/*.
  std::string model;                   // litellm_params.model, possibly empty.
  GatewaySpot spot;                    // Of its entry in model_list.
  GatewayValues params;                // litellm_params, completed from the credential it names.
  GatewayValues info;                  // model_info.
  GatewayValues allowed_fails_policy;  // model_info.allowed_fails_policy.
  GatewayValues off_peak_pricing;      // model_info.off_peak_pricing.
  GatewayValues stray_off_peak;        // litellm_params.off_peak_pricing, which has no effect.

  // Where the deployment's setting `key` stands, litellm_params before model_info.
  [[nodiscard]] const GatewayValue* setting(std::string_view key) const;
  // api_base or base_url; null without one.
  [[nodiscard]] const GatewayValue* address() const;
};

// All are lists of {group: [targets]}; `by_default` is default_fallbacks, read as {"*": targets}.
enum class FallbackKind { general, by_default, context_window, content_policy };
// The setting's name: "context_window_fallbacks".
std::string_view setting_name(FallbackKind kind);

struct GatewayFallback {
  FallbackKind kind = FallbackKind::general;
  std::string from;  // "*": every group without an entry of its own.
  std::vector<GatewayValue> to;
  GatewaySpot spot;
};

struct GatewayAlias {
  std::string name;
  std::string target;
  GatewaySpot spot;
};

// Written, and without effect or not readable: said as a finding, for the file says one thing and
// the gateway does another.
struct GatewayUnread {
  GatewaySpot spot;
  std::string reason;
  std::string remedy;
  bool harmless = false;  // A note rather than a warning.
};

struct GatewayConfig {
  std::string file;
  std::vector<GatewayDeployment> deployments;
  GatewayValues router;     // router_settings.
  GatewayValues litellm;    // litellm_settings.
  GatewayValues general;    // general_settings.
  GatewaySpot router_spot;  // Of router_settings; line 1 where there is none.
  GatewayValues allowed_fails_policy;
  GatewayValues retry_policy;
  std::map<std::string, GatewayValues, std::less<>> group_retry_policies;
  // {provider: time_period}, of router_settings.provider_budget_config.
  GatewayValues provider_budgets;
  // Those in force: router_settings' lists, or litellm_settings' where those are absent or empty.
  std::vector<GatewayFallback> fallbacks;
  std::vector<GatewayAlias> aliases;
  std::vector<GatewayUnread> unread;
  std::vector<ConfigProblem> duplicates;  // Keys that stand twice; the last one counts.

  // The value in force of a setting that both sections may hold: router_settings' first.
  [[nodiscard]] const GatewayValue* router_or_litellm(std::string_view key) const;
  [[nodiscard]] std::vector<const GatewayDeployment*> group(std::string_view name) const;
  // The deployments that answer for `name`: its own, those of its alias, else those of a wildcard.
  [[nodiscard]] std::vector<const GatewayDeployment*> serving(std::string_view name) const;
  // The entry that applies when a request for `group` has failed, as the gateway looks it up: the
  // exact name, the name without its provider's prefix, else the last "*". Null for none.
  [[nodiscard]] const GatewayFallback* fallback_of(std::string_view group) const;
};

struct LoadedGateway {
  GatewayConfig config;
  std::vector<ConfigProblem> problems;  // Any of them: the file can't be judged.
  [[nodiscard]] bool ok() const { return problems.empty(); }
};

// Reads the file and those that its `include:` names, relative to the file's folder. References
// to the environment are kept as names, nothing is looked up.
LoadedGateway load_gateway(const std::filesystem::path& path);
// The same from a text without includes.
LoadedGateway load_gateway_text(std::string_view text, const std::string& name);

}  // namespace outcomed
