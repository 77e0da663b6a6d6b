// What a gateway's configuration is held against. Every default comes from a published outage.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/problem.h"
#include "daemon/gateway/finding.h"
#include "daemon/gateway/price_table.h"
#include "queries/base/params.h"
#include "queries/base/private_hosts.h"
#include "queries/base/time.h"

namespace outcomed {

// What a policy may say about one check.
struct CheckSwitch {
  bool enabled = true;
  std::string reason;                 // Required where it is switched off.
  std::optional<FindingLevel> level;  // Instead of the check's own levels.
  friend bool operator==(const CheckSwitch&, const CheckSwitch&) = default;
};

struct GatewayPolicy {
  Duration longest_cooldown = 15s;
  std::int64_t min_errors = 3;  // Errors of a deployment up to and including the one that cools it.

  std::int64_t min_rate_limit_retries = 1;
  Duration min_pause = 1s;

  std::vector<std::string> private_groups = {"private/*"};
  std::vector<std::string> private_domains;
  std::vector<std::string> private_variables;  // Environment variables that hold private addresses.
  bool carrier_grade_nat = false;
  bool fallbacks_among_private = false;

  std::optional<double> price_tolerance = 0.01;
  std::vector<PublishedPrices> prices;

  std::vector<std::string> quota_models = {"*:free"};
  std::vector<std::string> quota_settings = {"rpd", "tpd", "daily_quota", "requests_per_day",
                                             "tokens_per_day"};

  std::map<std::string, CheckSwitch, std::less<>> checks;  // By rule id; what isn't here is on.

  void visit(ParamVisitor& visitor);  // All but `prices` and `checks`.

  [[nodiscard]] bool is_private(std::string_view group) const;
  [[nodiscard]] PrivateHosts private_hosts() const { return {private_domains, carrier_grade_nat}; }
  friend bool operator==(const GatewayPolicy&, const GatewayPolicy&);
};

struct LoadedPolicy {
  GatewayPolicy policy;
  std::vector<ConfigProblem> problems;
  [[nodiscard]] bool ok() const { return problems.empty(); }
};

// What a file leaves out keeps its default. Unknown keys, unknown checks and checks that are
// switched off without a reason are problems.
LoadedPolicy load_policy(const std::filesystem::path& path);
LoadedPolicy load_policy_text(std::string_view text, const std::string& name);

// The defaults as a commented file, which reads back as GatewayPolicy{}.
std::string_view default_policy_text();

}  // namespace outcomed
