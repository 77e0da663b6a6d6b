#include <gmock/gmock.h>

#include "tests/daemon/gateway/gateway_texts.h"

namespace outcomed {
namespace {

using ::testing::ElementsAre;
using testing::failures_in;
using testing::findings_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kGoodModels;
using testing::kGoodRouter;
using testing::notes_in;
using testing::policy_of;

// Line 2 is router_settings.
std::string with(const std::string& settings) {
  return "\nrouter_settings:\n  retry_after: 1\n" + settings + std::string(kGoodModels);
}

TEST(GatewayCooldown, AGoodGatewayHasNoFindings) {
  EXPECT_THAT(findings_of(std::string(kGoodModels) + std::string(kGoodRouter)), IsEmpty());
}

TEST(GatewayCooldown, ALongCooldownIsFoundAndFifteenSecondsAreNot) {
  EXPECT_THAT(failures_in(with("  cooldown_time: 60\n")),
              ElementsAre("4 error cooldown-too-long router_settings.cooldown_time"));
  EXPECT_THAT(failures_in(with("  cooldown_time: 15.5\n")),
              ElementsAre("4 error cooldown-too-long router_settings.cooldown_time"));
  EXPECT_THAT(failures_in(with("  cooldown_time: 15\n")), IsEmpty());
  EXPECT_THAT(failures_in(with("  cooldown_time: 60\n"), policy_of("cooldown: {longest: 1m}")),
              IsEmpty());
}

TEST(GatewayCooldown, ALongCooldownOfOneDeploymentIsFoundInBothPlaces) {
  const std::string params = std::string(kGoodRouter) + R"(
model_list:
  - model_name: a
    litellm_params: {model: openai/a, cooldown_time: 30}
  - model_name: a
    litellm_params: {model: openai/b}
    model_info: {cooldown_time: 31}
)";
  EXPECT_THAT(failures_in(params),
              ElementsAre("10 error cooldown-too-long model_list[0].litellm_params.cooldown_time",
                          "13 error cooldown-too-long model_list[1].model_info.cooldown_time"));
}

TEST(GatewayCooldown, ACooldownTimeInLitellmSettingsIsNotRead) {
  EXPECT_THAT(failures_in(with("litellm_settings: {cooldown_time: 60}\n")),
              ElementsAre("4 warning file-unread-setting litellm_settings.cooldown_time"));
}

TEST(GatewayCooldown, TheErrorThatCoolsCountsAmongTheThree) {
  for (const char* few : {"0", "1"}) {
    EXPECT_THAT(failures_in(with("  allowed_fails: " + std::string(few) + "\n")),
                ElementsAre("4 error cooldown-too-soon router_settings.allowed_fails"));
  }
  EXPECT_THAT(failures_in(with("  allowed_fails: 2\n")), IsEmpty());
  EXPECT_THAT(failures_in(with("  allowed_fails: 2\n"), policy_of("cooldown: {min_errors: 4}")),
              ElementsAre("4 error cooldown-too-soon router_settings.allowed_fails"));
}

TEST(GatewayCooldown, RouterSettingsWinOverLitellmSettings) {
  const std::string litellm = "litellm_settings: {allowed_fails: 1}\n";
  EXPECT_THAT(failures_in(with(litellm)),
              ElementsAre("4 error cooldown-too-soon litellm_settings.allowed_fails"));
  EXPECT_THAT(failures_in(with("  allowed_fails: 5\n" + litellm)), IsEmpty());
  EXPECT_THAT(notes_in(with("  allowed_fails: 5\n" + litellm)),
              ElementsAre("5 note file-unread-setting litellm_settings.allowed_fails"));
}

TEST(GatewayCooldown, EachClassOfErrorsNeedsThree) {
  const auto with_class = [](const std::string& text) {
    return failures_in(with("  allowed_fails_policy:\n    " + text + "\n"));
  };
  const std::string path = "router_settings.allowed_fails_policy.";
  EXPECT_THAT(with_class("TimeoutErrorAllowedFails: 1"),
              ElementsAre("5 error cooldown-class-too-soon " + path + "TimeoutErrorAllowedFails"));
  EXPECT_THAT(with_class("TimeoutErrorAllowedFails: 2"), IsEmpty());
  // 0 is ignored by the gateway.
  EXPECT_THAT(
      with_class("TimeoutErrorAllowedFails: 0"),
      ElementsAre("5 warning cooldown-class-too-soon " + path + "TimeoutErrorAllowedFails"));
  EXPECT_THAT(with_class("TimeoutAllowedFails: 5"),
              ElementsAre("5 warning file-unread-setting " + path + "TimeoutAllowedFails"));
}

TEST(GatewayCooldown, TheOnlyDeploymentOfAGroupIsNotCooledDown) {
  const auto outage = [](const std::string& router, const std::string& own) {
    return "router_settings: {retry_after: 1, " + router +
           "}\nmodel_list:\n  - model_name: judge\n    litellm_params: {model: openai/judge" + own +
           "}\n";
  };
  const std::string found = "3 error cooldown-single-deployment model_list[0].model_name";
  EXPECT_THAT(failures_in(outage("allowed_fails: 5", "")), ElementsAre(found));
  EXPECT_THAT(failures_in(outage("allowed_fails_policy: {TimeoutErrorAllowedFails: 9}", "")),
              ElementsAre(found));
  // Remedies: exempt, not counted, nobody cools.
  EXPECT_THAT(failures_in(outage("allowed_fails: 5", ", cooldown_time: 0")), IsEmpty());
  EXPECT_THAT(failures_in(outage("num_retries: 2", "")), IsEmpty());
  EXPECT_THAT(failures_in(outage("allowed_fails: 5, disable_cooldowns: true", "")), IsEmpty());
  // The gateway can't tell 3 from no number at all.
  EXPECT_THAT(failures_in(outage("allowed_fails: 3", "")), IsEmpty());
  EXPECT_THAT(notes_in(outage("allowed_fails: 3", "")),
              ElementsAre("1 note cooldown-default-rule router_settings.allowed_fails"));
  EXPECT_THAT(failures_in(outage("allowed_fails: 3, allowed_fails_policy: "
                                 "{TimeoutErrorAllowedFails: 9}",
                                 "")),
              ElementsAre(found));
}

TEST(GatewayCooldown, AFallbackMakesTheOnlyDeploymentAWarning) {
  const std::string text = R"(
router_settings: {retry_after: 1, allowed_fails: 5, fallbacks: [{judge: [spare]}]}
model_list:
  - model_name: judge
    litellm_params: {model: openai/judge, api_key: os.environ/A}
  - model_name: spare
    litellm_params: {model: anthropic/claude, api_key: os.environ/B, cooldown_time: 0}
)";
  EXPECT_THAT(failures_in(text),
              ElementsAre("4 warning cooldown-single-deployment model_list[0].model_name"));
}

TEST(GatewayCooldown, ValuesFromTheEnvironmentAreSaidNotToBeJudged) {
  EXPECT_THAT(failures_in(with("  cooldown_time: os.environ/COOL\n")), IsEmpty());
  EXPECT_THAT(notes_in(with("  cooldown_time: os.environ/COOL\n  allowed_fails: 4\n")),
              ElementsAre("4 note file-unknown-value router_settings.cooldown_time"));
  EXPECT_THAT(failures_in(with("  cooldown_time: 8s\n")),
              ElementsAre("4 warning file-unread-setting router_settings.cooldown_time"));
}

TEST(GatewayRetries, A429IsTriedAgain) {
  const std::string zero = with("  num_retries: 0\n");
  EXPECT_THAT(failures_in(zero),
              ElementsAre("4 error retry-rate-limit router_settings.num_retries"));
  EXPECT_THAT(failures_in(with("  num_retries: 1\n")), IsEmpty());
  // The class counts instead of the number for all.
  EXPECT_THAT(failures_in(with("  num_retries: 0\n  retry_policy: {RateLimitErrorRetries: 3}\n")),
              IsEmpty());
  EXPECT_THAT(
      failures_in(with("  num_retries: 2\n  retry_policy: {RateLimitErrorRetries: 0}\n")),
      ElementsAre("5 error retry-rate-limit router_settings.retry_policy.RateLimitErrorRetries"));
  EXPECT_THAT(
      failures_in(with("  model_group_retry_policy: {gpt-4o: {RateLimitErrorRetries: 0}}\n")),
      ElementsAre("4 error retry-rate-limit "
                  "router_settings.model_group_retry_policy.gpt-4o.RateLimitErrorRetries"));
}

TEST(GatewayRetries, ThereIsAPauseBeforeARetry) {
  const std::string models(kGoodModels);
  EXPECT_THAT(failures_in(models), ElementsAre("1 warning retry-pause router_settings"));
  EXPECT_THAT(failures_in("router_settings: {retry_after: 0}\n" + models),
              ElementsAre("1 warning retry-pause router_settings.retry_after"));
  EXPECT_THAT(failures_in("router_settings: {retry_after: 1}\n" + models), IsEmpty());
}

}  // namespace
}  // namespace outcomed
