// A fallback must not fail together with what it stands in for.
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "daemon/config/words.h"
#include "daemon/gateway/checks.h"
#include "daemon/gateway/identity.h"

namespace outcomed {
namespace {

using Members = std::vector<const GatewayDeployment*>;

// The strongest tie of `reserve` to any of the primaries.
SharedFate tie_to(const GatewayDeployment& reserve, const Members& primaries) {
  SharedFate strongest;
  for (const GatewayDeployment* primary : primaries) {
    SharedFate tie = shared_fate(*primary, reserve);
    if (tie.kind > strongest.kind) strongest = std::move(tie);
  }
  return strongest;
}

struct Reserve {
  std::string target;
  SharedFate tie;
};

// The best of the fallbacks: the one with the weakest tie. Nothing where nobody answers for any.
std::optional<Reserve> best_reserve(const GatewayConfig& config, const std::string& name,
                                    const GatewayFallback& fallback, const Members& primaries) {
  std::optional<Reserve> best;
  for (const GatewayValue& target : fallback.to) {
    if (target.text == name) continue;
    for (const GatewayDeployment* reserve : config.serving(target.text)) {
      SharedFate tie = tie_to(*reserve, primaries);
      if (!best || tie.kind < best->tie.kind) best = Reserve{target.text, std::move(tie)};
    }
  }
  return best;
}

void check_targets(const GatewayConfig& config, GatewayFindings& findings) {
  for (const GatewayFallback& fallback : config.fallbacks) {
    for (const GatewayValue& target : fallback.to) {
      if (!config.serving(target.text).empty()) continue;
      findings.push_back({"reserve-missing", FindingLevel::error, target.spot,
                          fmt::format("no deployment of this file answers for {}: the fallback "
                                      "fails as well, with \"no healthy deployments\"",
                                      shown(target.text)),
                          "write a model_name that model_list has, or add the deployment"});
    }
  }
}

}  // namespace

GatewayFindings check_reserves(const GatewayConfig& config, const GatewayPolicy&) {
  GatewayFindings findings;
  check_targets(config, findings);
  for (const std::string& name : group_names(config)) {
    const GatewayFallback* fallback = config.fallback_of(name);
    if (!fallback) continue;
    const auto best = best_reserve(config, name, *fallback, config.group(name));
    if (!best || best->tie.kind == SharedFate::Kind::nothing) continue;
    findings.push_back(
        {"reserve-shared",
         best->tie.kind == SharedFate::Kind::provider ? FindingLevel::warning : FindingLevel::error,
         fallback->spot,
         fmt::format("{} falls back to {}, which shares {} with it: what takes {} down takes its "
                     "reserve down too",
                     shown(name), shown(best->target), best->tie.what, shown(name)),
         "name a fallback at another provider, with an account and a key of its own"});
  }
  return findings;
}

}  // namespace outcomed
