// Groups whose data must not leave the house: every way out that was seen on a real gateway.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/config/words.h"
#include "daemon/gateway/checks.h"
#include "daemon/gateway/names.h"
#include "queries/base/glob.h"

namespace outcomed {
namespace {

struct Way {
  const char* rule;
  const char* when;  // The request goes there.
};

Way way_of(FallbackKind kind) {
  switch (kind) {
    case FallbackKind::context_window:
      return {"private-context-window-fallback", "a prompt that is too long for it"};
    case FallbackKind::content_policy:
      return {"private-content-policy-fallback", "a prompt that its model refuses"};
    case FallbackKind::by_default:
      return {"private-default-fallback", "a request that fails there"};
    case FallbackKind::general:
      break;
  }
  return {"private-fallback", "a request that fails there"};
}

class PrivacyCheck {
 public:
  PrivacyCheck(const GatewayConfig& config, const GatewayPolicy& policy)
      : config_(config), policy_(policy) {}

  GatewayFindings run() {
    for (const std::string& name : group_names(config_)) {
      if (policy_.is_private(name)) groups_.push_back(name);
    }
    check_fallbacks();
    check_aliases();
    for (const GatewayDeployment& deployment : config_.deployments) {
      if (policy_.is_private(deployment.group.text)) check_address(deployment);
    }
    check_clients();
    check_wildcards();
    return std::move(findings_);
  }

 private:
  void add(const char* rule, FindingLevel level, const GatewaySpot& spot, std::string reason,
           std::string remedy) {
    findings_.push_back({rule, level, spot, std::move(reason), std::move(remedy)});
  }

  [[nodiscard]] bool all_private(const GatewayFallback& fallback) const {
    return std::ranges::all_of(
        fallback.to, [&](const GatewayValue& target) { return policy_.is_private(target.text); });
  }

  void check_fallbacks() {
    // Groups that have deployments, and names that are written only here.
    std::vector<std::string> names = groups_;
    for (const GatewayFallback& fallback : config_.fallbacks) {
      if (fallback.from != "*" && policy_.is_private(fallback.from) &&
          std::ranges::find(names, fallback.from) == names.end()) {
        names.push_back(fallback.from);
      }
    }
    for (const std::string& name : names) {
      if (const GatewayFallback* fallback = config_.fallback_of(name)) judge(name, *fallback);
      for (const FallbackKind kind : {FallbackKind::context_window, FallbackKind::content_policy}) {
        if (const GatewayFallback* fallback = special(name, kind)) judge(name, *fallback);
      }
    }
  }

  // Whether "*" counts in these lists depends on the version, so it is taken to count.
  [[nodiscard]] const GatewayFallback* special(const std::string& name, FallbackKind kind) const {
    const GatewayFallback* any = nullptr;
    for (const GatewayFallback& fallback : config_.fallbacks) {
      if (fallback.kind != kind) continue;
      if (fallback.from == name) return &fallback;
      if (fallback.from == "*") any = &fallback;
    }
    return any;
  }

  // The list in which an entry of the group's own is in force: the one that is there already, for a
  // new one in router_settings would put that of litellm_settings out of force.
  [[nodiscard]] std::string list_for(const GatewayFallback& fallback) const {
    const FallbackKind kind =
        fallback.kind == FallbackKind::by_default ? FallbackKind::general : fallback.kind;
    const auto there = std::ranges::find(config_.fallbacks, kind, &GatewayFallback::kind);
    const std::string& path = (there == config_.fallbacks.end() ? fallback : *there).spot.path;
    return path.substr(0, path.find('.') + 1) + std::string(setting_name(kind));
  }

  void judge(const std::string& name, const GatewayFallback& fallback) {
    std::vector<std::string> targets;
    for (const GatewayValue& target : fallback.to) {
      if (target.text != name) targets.push_back(shown(target.text));
    }
    if (targets.empty()) return;
    const bool stays = all_private(fallback);
    if (stays && policy_.fallbacks_among_private) return;
    const Way way = way_of(fallback.kind);
    const std::string there = fmt::format("{}", fmt::join(targets, ", "));
    // The empty list is what was shown to keep requests in; without an entry of its own the group
    // would come under the next "*".
    std::string remedy = fmt::format("write an empty list: {}: []", in_quotes(name));
    if (fallback.from != name) {
      remedy = fmt::format("add {{{}: []}} to {}", in_quotes(name), list_for(fallback));
    }
    add(way.rule, stays ? FindingLevel::warning : FindingLevel::error, fallback.spot,
        fmt::format("{} is private, and {} is sent to {}{}", shown(name), way.when, there,
                    stays ? ", another private group" : ""),
        std::move(remedy));
  }

  void check_aliases() {
    for (const GatewayAlias& alias : config_.aliases) {
      const bool from = policy_.is_private(alias.name);
      const bool to = policy_.is_private(alias.target);
      if (from && !to) {
        add("private-alias", FindingLevel::error, alias.spot,
            fmt::format("{} is private, and every request for it is sent to {}", shown(alias.name),
                        shown(alias.target)),
            "remove the alias");
      } else if (to) {
        add("private-alias", FindingLevel::warning, alias.spot,
            fmt::format("{} is another name of the private group {}: rules and metrics that go by "
                        "the name don't see it",
                        shown(alias.name), shown(alias.target)),
            "remove the alias, and let clients ask for the group by its name");
      }
    }
  }

  void check_address(const GatewayDeployment& deployment) {
    if (is_in_the_house(deployment, policy_)) return;
    const std::string who = shown(deployment.group.text);
    const GatewayValue* address = deployment.address();
    const std::string shared = sharing(deployment);
    if (!address) {
      add("private-address", FindingLevel::error, deployment.spot,
          fmt::format("{} is private, and this deployment ({}) has no api_base: the provider's own "
                      "address is used{}",
                      who, shown(deployment.model), shared),
          "write litellm_params.api_base with an address in the house, or remove the deployment");
      return;
    }
    if (const auto variable = environment_name(address->text)) {
      add("private-address", FindingLevel::warning, address->spot,
          fmt::format("{} is private, and where this deployment is stands in the environment ({}), "
                      "which can't be seen here",
                      who, *variable),
          fmt::format("write the address, or vouch for it in the policy: private.variables: [{}]",
                      *variable));
      return;
    }
    const std::optional<std::string> host = url_host(address->text);
    std::string remedy = "name an address in the house, or remove the deployment";
    if (host && is_host_name(*host)) {
      remedy += fmt::format("; if {} is in the house, say so in the policy: private.domains",
                            shown(*host));
    }
    add("private-address", FindingLevel::error, address->spot,
        host ? fmt::format("{} is private, and this deployment is at {}, which is no private "
                           "address{}",
                           who, shown(*host), shared)
             : fmt::format("{} is private, and this deployment's api_base is no http(s) URL", who),
        std::move(remedy));
  }

  [[nodiscard]] std::string sharing(const GatewayDeployment& deployment) const {
    const std::size_t members = config_.group(deployment.group.text).size();
    if (members < 2) return "";
    return fmt::format("; it gets its share of the requests of the {} deployments of that name",
                       members);
  }

  [[nodiscard]] const GatewayDeployment* first_private() const {
    const auto found = std::ranges::find_if(config_.deployments, [&](const auto& deployment) {
      return policy_.is_private(deployment.group.text);
    });
    return found == config_.deployments.end() ? nullptr : &*found;
  }

  void check_clients() {
    const GatewayDeployment* first = first_private();
    const auto other = std::ranges::find_if(config_.deployments, [&](const auto& deployment) {
      return !policy_.is_private(deployment.group.text);
    });
    if (!first || other == config_.deployments.end()) return;
    add("private-client-fallback", FindingLevel::note, first->group.spot,
        fmt::format("a client that sends \"fallbacks\": [{}] with its request to {} is obeyed, "
                    "whatever this file says",
                    in_quotes(other->group.text), shown(first->group.text)),
        "refuse \"fallbacks\" in front of the gateway, and watch "
        "litellm_deployment_successful_fallbacks_total of private groups");
  }

  void check_wildcards() {
    if (groups_.empty()) return;
    for (const GatewayDeployment& deployment : config_.deployments) {
      const std::string& pattern = deployment.group.text;
      if (pattern.find('*') == std::string::npos || policy_.is_private(pattern)) continue;
      // A name of a private group that nobody has: its own with a letter more.
      const auto mistyped = std::ranges::find_if(groups_, [&](const std::string& name) {
        return glob_matches(pattern, name + "x") && config_.group(name + "x").empty();
      });
      if (mistyped == groups_.end()) continue;
      add("private-wildcard", FindingLevel::note, deployment.group.spot,
          fmt::format("a private name that no deployment has, such as a mistyped {}, fits this "
                      "wildcard; names that exist don't come here",
                      shown(*mistyped)),
          "write wildcards that no private name fits, such as openai/*");
    }
  }

  const GatewayConfig& config_;
  const GatewayPolicy& policy_;
  std::vector<std::string> groups_;
  GatewayFindings findings_;
};

}  // namespace

GatewayFindings check_privacy(const GatewayConfig& config, const GatewayPolicy& policy) {
  return PrivacyCheck(config, policy).run();
}

}  // namespace outcomed
