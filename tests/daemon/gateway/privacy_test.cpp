// The ways out of private data, each seen on real gateways (1.81.9 and 1.106.12), and the remedies
// that were shown to work.
#include <gmock/gmock.h>

#include "queries/base/private_hosts.h"
#include "tests/daemon/gateway/gateway_texts.h"

namespace outcomed {
namespace {

using ::testing::ElementsAre;
using testing::failures_in;
using testing::findings_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kPrivateModels;
using testing::notes_in;
using testing::policy_of;

std::string with(const std::string& router, const std::string& litellm = "") {
  std::string text =
      "router_settings: {retry_after: 1" + (router.empty() ? "" : ", " + router) + "}\n";
  if (!litellm.empty()) text += "litellm_settings: {" + litellm + "}\n";
  return text + std::string(kPrivateModels);
}

const std::string kOwnEmptyList = R"(fallbacks: [{"private/qwen": []}])";
const std::string kQuoted = R"(["private/qwen"])";

TEST(GatewayPrivacy, APrivateGroupWithoutFallbacksIsInOrder) {
  EXPECT_THAT(failures_in(with("")), IsEmpty());
}

TEST(GatewayPrivacy, DefaultFallbacksReachItFromEitherSection) {
  const std::string setting = "default_fallbacks: [gpt-4o]";
  EXPECT_THAT(failures_in(with(setting)),
              ElementsAre("1 error private-default-fallback router_settings.default_fallbacks"));
  EXPECT_THAT(failures_in(with("", setting)),
              ElementsAre("2 error private-default-fallback litellm_settings.default_fallbacks"));
  // The remedy, wherever it stands.
  EXPECT_THAT(failures_in(with(setting + ", " + kOwnEmptyList)), IsEmpty());
  EXPECT_THAT(failures_in(with("", setting + ", " + kOwnEmptyList)), IsEmpty());
  EXPECT_THAT(failures_in(with(kOwnEmptyList, setting)), IsEmpty());
}

TEST(GatewayPrivacy, TheRemedyNamesTheListThatIsInForce) {
  const std::string by_default = "default_fallbacks: [gpt-4o]";
  const std::string other = ", fallbacks: [{gpt-4o: []}]";
  EXPECT_EQ(findings_of(with(by_default))[1].remedy,
            R"(add {"private/qwen": []} to router_settings.fallbacks)");
  EXPECT_EQ(findings_of(with("allowed_fails: 5", by_default + other))[0].remedy,
            R"(add {"private/qwen": []} to litellm_settings.fallbacks)");
}

TEST(GatewayPrivacy, FallbacksForEveryGroupReachIt) {
  EXPECT_THAT(failures_in(with(R"(fallbacks: [{"*": [gpt-4o]}])")),
              ElementsAre(R"(1 error private-fallback router_settings.fallbacks[0]["*"])"));
  EXPECT_THAT(failures_in(with(R"(fallbacks: [{"*": [gpt-4o]}, {"private/qwen": []}])")),
              IsEmpty());
}

TEST(GatewayPrivacy, ItsOwnFallbacksAreFoundInEitherSection) {
  const std::string setting = R"(fallbacks: [{"private/qwen": [gpt-4o]}])";
  EXPECT_THAT(failures_in(with(setting)),
              ElementsAre("1 error private-fallback router_settings.fallbacks[0]" + kQuoted));
  EXPECT_THAT(failures_in(with("", setting)),
              ElementsAre("2 error private-fallback litellm_settings.fallbacks[0]" + kQuoted));
  EXPECT_THAT(failures_in(with(kOwnEmptyList)), IsEmpty());
  // router_settings' list counts; an empty one gives way, as it does in the gateway.
  EXPECT_THAT(failures_in(with(R"(fallbacks: [{"private/qwen": []}])", setting)), IsEmpty());
  EXPECT_THAT(failures_in(with("fallbacks: []", setting)),
              ElementsAre("2 error private-fallback litellm_settings.fallbacks[0]" + kQuoted));
}

TEST(GatewayPrivacy, ContextWindowFallbacksAreFoundInEitherSection) {
  const std::string setting = R"(context_window_fallbacks: [{"private/qwen": [gpt-4o]}])";
  EXPECT_THAT(failures_in(with(setting)),
              ElementsAre("1 error private-context-window-fallback "
                          "router_settings.context_window_fallbacks[0]" +
                          kQuoted));
  EXPECT_THAT(failures_in(with("", setting)),
              ElementsAre("2 error private-context-window-fallback "
                          "litellm_settings.context_window_fallbacks[0]" +
                          kQuoted));
  EXPECT_THAT(failures_in(with(R"(context_window_fallbacks: [{"private/qwen": []}])")), IsEmpty());
}

TEST(GatewayPrivacy, ContentPolicyFallbacksAreFoundInEitherSection) {
  const std::string setting = R"(content_policy_fallbacks: [{"private/qwen": [gpt-4o]}])";
  EXPECT_THAT(failures_in(with(setting)),
              ElementsAre("1 error private-content-policy-fallback "
                          "router_settings.content_policy_fallbacks[0]" +
                          kQuoted));
  EXPECT_THAT(failures_in(with("", setting)),
              ElementsAre("2 error private-content-policy-fallback "
                          "litellm_settings.content_policy_fallbacks[0]" +
                          kQuoted));
}

TEST(GatewayPrivacy, AnAliasSendsItElsewhereInEitherSpelling) {
  const std::string path = "router_settings.model_group_alias" + kQuoted;
  EXPECT_THAT(failures_in(with(R"(model_group_alias: {"private/qwen": gpt-4o})")),
              ElementsAre("1 error private-alias " + path));
  EXPECT_THAT(
      failures_in(with(R"(model_group_alias: {"private/qwen": {model: gpt-4o, hidden: true}})")),
      ElementsAre("1 error private-alias " + path));
  EXPECT_THAT(failures_in(with("model_group_alias: {fast: gpt-4o}")), IsEmpty());
  // Another name hides that the group is private.
  EXPECT_THAT(failures_in(with("model_group_alias: {fast: private/qwen}")),
              ElementsAre("1 warning private-alias router_settings.model_group_alias.fast"));
}

TEST(GatewayPrivacy, ACloudDeploymentUnderTheSameNameIsFound) {
  const std::string text = with("") + R"(
  - model_name: private/qwen
    litellm_params: {model: openai/gpt-4o, api_key: os.environ/K, cooldown_time: 0}
)";
  const GatewayFindings findings = findings_of(text);
  ASSERT_FALSE(findings.empty());
  EXPECT_THAT(failures_in(text), ElementsAre("9 error private-address model_list[2]"));
  const auto found = std::ranges::find(findings, "private-address", &GatewayFinding::rule);
  EXPECT_THAT(found->reason, HasSubstr("share of the requests of the 2 deployments"));
}

TEST(GatewayPrivacy, AWildcardDeploymentBesideItIsANoteOnly) {
  const std::string text = with("") + R"(
  - model_name: "*"
    litellm_params: {model: "openai/*", cooldown_time: 0}
)";
  EXPECT_THAT(failures_in(text), IsEmpty());
  EXPECT_THAT(notes_in(text),
              ::testing::Contains("9 note private-wildcard model_list[2].model_name"));
}

TEST(GatewayPrivacy, WhatAClientSendsItselfIsANoteForNoSettingForbidsIt) {
  EXPECT_THAT(notes_in(with("allowed_fails: 5")),
              ElementsAre("4 note private-client-fallback model_list[0].model_name"));
  const GatewayPolicy accepted = policy_of(
      "checks: {private-client-fallback: {enabled: false, reason: the proxy in front refuses it}}");
  EXPECT_THAT(notes_in(with("allowed_fails: 5"), accepted), IsEmpty());
}

TEST(GatewayPrivacy, OnlyTheFirstGroupOfAnEntryIsRead) {
  // Looks like the remedy, and isn't.
  EXPECT_THAT(
      failures_in(
          with(R"(default_fallbacks: [gpt-4o], fallbacks: [{a: [gpt-4o], "private/qwen": []}])")),
      ElementsAre("1 error private-default-fallback router_settings.default_fallbacks",
                  "1 warning file-unread-setting router_settings.fallbacks[0]" + kQuoted));
}

TEST(GatewayPrivacy, AnotherPrivateGroupAsFallbackIsAWarningUnlessThePolicyAllowsIt) {
  const std::string text = with(R"(fallbacks: [{"private/qwen": [private/llama]}])") + R"(
  - model_name: private/llama
    litellm_params: {model: openai/llama, api_base: "http://10.0.0.8:8000/v1", cooldown_time: 0}
)";
  EXPECT_THAT(failures_in(text),
              ElementsAre("1 warning private-fallback router_settings.fallbacks[0]" + kQuoted));
  EXPECT_THAT(failures_in(text, policy_of("private: {fallbacks_among_private: true}")), IsEmpty());
}

TEST(GatewayPrivacy, PrivateGroupsAreThoseOfThePolicy) {
  const std::string text = with("default_fallbacks: [gpt-4o]");
  EXPECT_THAT(failures_in(text, policy_of("private: {groups: [\"secret/*\"]}")), IsEmpty());
}

std::string at(const std::string& address) {
  return "router_settings: {retry_after: 1}\nmodel_list:\n  - model_name: private/qwen\n"
         "    litellm_params: {model: openai/qwen, api_base: \"" +
         address + "\"}\n";
}

TEST(GatewayPrivacy, PrivateAddressesOfEveryKindAreInOrder) {
  for (const char* address :
       {"http://10.0.0.7:8000/v1", "http://172.16.0.1", "http://172.31.255.255/",
        "http://192.168.1.1", "http://127.0.0.1:9", "http://169.254.1.1", "http://localhost:11434",
        "http://LOCALHOST/", "http://[::1]:8000/v1", "http://[fd00::7]/v1", "http://[fe80::1]/",
        "https://[::ffff:10.0.0.1]/", "http://user:pass@10.0.0.7/", "HTTP://10.0.0.7"}) {
    EXPECT_THAT(failures_in(at(address)), IsEmpty()) << address;
  }
}

TEST(GatewayPrivacy, EveryOtherAddressIsFound) {
  for (const char* address :
       {"https://api.openai.com/v1", "http://8.8.8.8", "http://172.32.0.1", "http://192.169.0.1",
        "http://100.64.0.1", "http://[2001:db8::1]/", "http://[::ffff:8.8.8.8]/",
        // What only looks private.
        "http://10.0.0.7@example.com/", "http://10.0.0.7:x@example.com/",
        "http://10.0.0.7.example.com/", "http://localhost.example.com", "http://0x0a000007/",
        "http://10.1/", "http://010.0.0.1/", "http://167772167/", "http://example.com#@10.0.0.7",
        "http://example.com?@10.0.0.7", "http://example.com\\\\@10.0.0.7", "ftp://10.0.0.7",
        "10.0.0.7:8000", "", "http://", "http://[10.0.0.7"}) {
    EXPECT_THAT(failures_in(at(address)),
                ElementsAre("4 error private-address model_list[0].litellm_params.api_base"))
        << address;
  }
}

TEST(GatewayPrivacy, ThePolicySaysWhichNamesAndNetsAreInTheHouse) {
  const GatewayPolicy policy =
      policy_of("private: {domains: [corp.example, vllm], carrier_grade_nat: true}");
  for (const char* address :
       {"http://gpu1.corp.example:8000", "http://corp.example", "http://vllm:8000",
        "http://GPU.Corp.Example./v1", "http://100.64.0.1"}) {
    EXPECT_THAT(failures_in(at(address), policy), IsEmpty()) << address;
  }
  for (const char* address :
       {"http://evilcorp.example", "http://corp.example.com", "http://xvllm"}) {
    EXPECT_EQ(failures_in(at(address), policy).size(), 1U) << address;
  }
}

TEST(GatewayPrivacy, AnAddressInTheEnvironmentMustBeVouchedFor) {
  const std::string text = at("os.environ/QWEN_BASE");
  EXPECT_THAT(failures_in(text),
              ElementsAre("4 warning private-address model_list[0].litellm_params.api_base"));
  EXPECT_THAT(failures_in(text, policy_of("private: {variables: [QWEN_BASE]}")), IsEmpty());
}

TEST(GatewayPrivacy, BaseUrlAndCredentialsAreAddressesToo) {
  const std::string text = R"(
router_settings: {retry_after: 1}
credential_list:
  - credential_name: house
    credential_values: {api_base: "http://10.0.0.9", api_key: secret}
model_list:
  - model_name: private/a
    litellm_params: {model: openai/a, base_url: "http://10.0.0.7"}
  - model_name: private/b
    litellm_params: {model: openai/b, litellm_credential_name: house}
)";
  EXPECT_THAT(failures_in(text), IsEmpty());
}

}  // namespace
}  // namespace outcomed
