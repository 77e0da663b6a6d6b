// Cooldowns: how long, after how many errors, and never the only deployment of a group.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "daemon/config/words.h"
#include "daemon/gateway/checks.h"

namespace outcomed {
namespace {

// Without a number of its own the gateway counts as if this one were written, and the other way
// round: this number reads as none.
constexpr double kDefaultAllowedFails = 3;

constexpr std::array<std::string_view, 9> kClasses = {"AuthenticationErrorAllowedFails",
                                                      "TimeoutErrorAllowedFails",
                                                      "RateLimitErrorAllowedFails",
                                                      "ContentPolicyViolationErrorAllowedFails",
                                                      "BadRequestErrorAllowedFails",
                                                      "InternalServerErrorAllowedFails",
                                                      "ServiceUnavailableErrorAllowedFails",
                                                      "BadGatewayErrorAllowedFails",
                                                      "NotFoundErrorAllowedFails"};

std::string errors_text(double count) {
  return count == 1 ? "1 error" : fmt::format("{:g} errors", count);
}

class CooldownCheck {
 public:
  CooldownCheck(const GatewayConfig& config, const GatewayPolicy& policy)
      : config_(config), policy_(policy), allowed_(config.router_or_litellm("allowed_fails")) {}

  GatewayFindings run() {
    // Nobody cools down where it is switched off.
    if (flag_at(config_.router, "disable_cooldowns").value_or(false)) return {};
    check_length(value_at(config_.router, "cooldown_time"));
    check_count(allowed_, "cooldown-too-soon");
    check_classes(config_.allowed_fails_policy);
    for (const GatewayDeployment& deployment : config_.deployments) {
      check_length(deployment.setting("cooldown_time"));
      check_count(deployment.setting("allowed_fails"), "cooldown-too-soon");
      check_classes(deployment.allowed_fails_policy);
    }
    check_default_rule();
    for (const std::string& name : group_names(config_)) check_single(name);
    return std::move(findings_);
  }

 private:
  void check_length(const GatewayValue* value) {
    const std::optional<double> seconds = value ? as_number(*value) : std::nullopt;
    const double most = std::chrono::duration<double>(policy_.longest_cooldown).count();
    if (!seconds || *seconds <= most) return;
    findings_.push_back(
        {"cooldown-too-long", FindingLevel::error, value->spot,
         fmt::format("a deployment that failed serves nobody for {:g} s, even if the provider "
                     "answers again at once; the policy allows {}",
                     *seconds, format_duration(policy_.longest_cooldown)),
         fmt::format("write {:g} or less", most)});
  }

  void check_count(const GatewayValue* value, const char* rule) {
    const std::optional<double> allowed = value ? as_number(*value) : std::nullopt;
    if (!allowed || *allowed + 1 >= static_cast<double>(policy_.min_errors)) return;
    findings_.push_back({rule, FindingLevel::error, value->spot,
                         fmt::format("{} within the cooldown time take a deployment away from all "
                                     "clients; the policy wants at least {}",
                                     errors_text(*allowed + 1), policy_.min_errors),
                         fmt::format("write {} or more", policy_.min_errors - 1)});
  }

  void check_classes(const GatewayValues& classes) {
    for (const auto& [name, value] : classes) {
      if (std::ranges::find(kClasses, name) == kClasses.end()) {
        const auto near = suggest(name, kClasses);
        findings_.push_back({"file-unread-setting", FindingLevel::warning, value.spot,
                             "the gateway knows no such class of errors",
                             near ? fmt::format("did you mean {}?", *near)
                                  : "write one of the classes of the gateway's documentation"});
      } else if (as_number(value) == 0.0) {
        findings_.push_back({"cooldown-class-too-soon", FindingLevel::warning, value.spot,
                             "0 reads as \"not set\": allowed_fails counts instead",
                             fmt::format("write {} or more", policy_.min_errors - 1)});
      } else {
        check_count(&value, "cooldown-class-too-soon");
      }
    }
  }

  [[nodiscard]] bool counts_errors() const {
    if (!config_.allowed_fails_policy.empty()) return true;
    if (!allowed_) return false;
    const std::optional<double> allowed = as_number(*allowed_);
    return !allowed || *allowed != kDefaultAllowedFails;
  }

  void check_default_rule() {
    if (counts_errors() || config_.deployments.empty()) return;
    findings_.push_back(
        {"cooldown-default-rule", FindingLevel::note,
         allowed_ ? allowed_->spot : config_.router_spot,
         fmt::format("{}: the gateway's own rule counts, by which a single 429 cools a deployment "
                     "that has companions, and a single 401 or 404 any deployment",
                     allowed_ ? "allowed_fails: 3 reads as \"not set\""
                              : "neither allowed_fails nor allowed_fails_policy is set"),
         "to have errors counted, write allowed_fails_policy by class; it then holds for groups of "
         "one deployment too"});
  }

  // Whether the deployment is exempt by a setting of its own.
  static bool never_cools(const GatewayDeployment& deployment) {
    const GatewayValue* time = deployment.setting("cooldown_time");
    return time && as_number(*time) == 0.0;
  }

  void check_single(const std::string& name) {
    const std::vector<const GatewayDeployment*> members = config_.group(name);
    if (members.size() != 1 || !counts_errors() || never_cools(*members.front())) return;
    const GatewayFallback* reserve = config_.fallback_of(name);
    const bool has_reserve = reserve && !reserve->to.empty();
    const std::string setting = !config_.allowed_fails_policy.empty()
                                    ? "allowed_fails_policy"
                                    : fmt::format("allowed_fails: {}", shown(allowed_->text));
    findings_.push_back(
        {"cooldown-single-deployment", has_reserve ? FindingLevel::warning : FindingLevel::error,
         members.front()->group.spot,
         fmt::format("{} has one deployment, and with {} the gateway cools that one too: {}",
                     shown(name), setting,
                     has_reserve ? "all its requests then go to the fallback"
                                 : "all its requests are then refused with 429 \"No deployments "
                                   "available\", whether or not the provider answers"),
         "write litellm_params.cooldown_time: 0 for it, add a second deployment, or remove the "
         "setting"});
  }

  const GatewayConfig& config_;
  const GatewayPolicy& policy_;
  const GatewayValue* allowed_;
  GatewayFindings findings_;
};

}  // namespace

GatewayFindings check_cooldowns(const GatewayConfig& config, const GatewayPolicy& policy) {
  return CooldownCheck(config, policy).run();
}

}  // namespace outcomed
