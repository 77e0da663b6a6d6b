// Health checks, prices, reserves, quotas.
#include <gmock/gmock.h>

#include "daemon/gateway/names.h"
#include "queries/base/glob.h"
#include "tests/daemon/gateway/gateway_texts.h"

namespace outcomed {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::failures_in;
using testing::findings_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::notes_in;
using testing::policy_of;

const std::string kRouter = "router_settings: {retry_after: 1}\n";

// Models start in line 3, one line each.
std::string models(const std::string& lines, const std::string& general = "{}") {
  return kRouter + "general_settings: " + general + "\nmodel_list:\n" + lines;
}

TEST(GatewayHealthChecks, ThoseOfBilledDeploymentsAreOff) {
  const std::string on = "{background_health_checks: true, health_check_interval: 60}";
  const auto with_info = [](const std::string& params, const std::string& info) {
    return "  - {model_name: a, litellm_params: {model: openai/a" + params + "}" +
           (info.empty() ? "" : ", model_info: {" + info + "}") + "}\n";
  };
  const std::string found = "4 error health-check-billed model_list[0]";
  EXPECT_THAT(failures_in(models(with_info("", ""), on)), ElementsAre(found));
  EXPECT_THAT(findings_of(models(with_info("", ""), on)).back().reason,
              HasSubstr("1440 billed calls a day"));
  // Remedies.
  EXPECT_THAT(failures_in(models(with_info("", ""), "{background_health_checks: false}")),
              IsEmpty());
  EXPECT_THAT(failures_in(models(with_info("", ""))), IsEmpty());
  EXPECT_THAT(failures_in(models(with_info("", "disable_background_health_check: true"), on)),
              IsEmpty());
  // Costs nothing, or does although it is in the house.
  EXPECT_THAT(failures_in(models(with_info(", api_base: \"http://10.0.0.1\"", ""), on)), IsEmpty());
  const std::string prices = ", input_cost_per_token: {}, output_cost_per_token: {}";
  EXPECT_THAT(failures_in(models(
                  with_info(", input_cost_per_token: 0, output_cost_per_token: 0.0", ""), on)),
              IsEmpty());
  EXPECT_THAT(failures_in(models(with_info(", api_base: \"http://10.0.0.1\", input_cost_per_token: "
                                           "1e-6, output_cost_per_token: 1e-6",
                                           ""),
                                 on)),
              ElementsAre(found));
  // Python's words for true.
  EXPECT_THAT(failures_in(models(with_info("", ""), "{background_health_checks: yes}")),
              ElementsAre(found));
  EXPECT_THAT(failures_in(models(with_info("", ""), "{background_health_checks: os.environ/X}")),
              ElementsAre("4 warning health-check-billed model_list[0]"));
}

const std::string kTable = R"(
prices:
  - provider: deepseek
    currency: USD
    source: "https://example.org"
    read_on: 2026-10-01
    calendar: {time_zone: UTC, peak: ["mon-fri 00:30-16:30"]}
    models:
      deepseek-chat:
        aliases: ["ds-*"]
        peak:     {input: 0.27,  cached_input: 0.07,  output: 1.10}
        off_peak: {input: 0.135, cached_input: 0.035, output: 0.55}
        valid_from: 2026-02-01
)";

std::string priced(const std::string& name, const std::string& prices) {
  return "  - {model_name: a, litellm_params: {model: " + name + ", " + prices + "}}\n";
}

TEST(GatewayPrices, ThoseBetweenOffPeakAndPeakAreInOrder) {
  const GatewayPolicy policy = policy_of(kTable);
  for (const char* input : {"0.00000027", "2.7e-07", "0.000000135", "2e-7", "2.72e-7"}) {
    EXPECT_THAT(
        failures_in(models(priced("deepseek/deepseek-chat",
                                  "cache_read_input_token_cost: 7e-8, output_cost_per_token: "
                                  "1.1e-6, input_cost_per_token: " +
                                      std::string(input))),
                    policy),
        IsEmpty())
        << input;
  }
}

TEST(GatewayPrices, RemediesAreNumbersToTheGatewaysYaml) {
  const GatewayPolicy policy = policy_of(R"(
prices:
  - provider: deepseek
    currency: USD
    models: {deepseek-chat: {flat: {input: 5, output: 6}}}
)");
  const std::string text = models(priced(
      "deepseek/deepseek-chat", "output_cost_per_token: 6.0e-6, input_cost_per_token: 9e-6"));
  std::vector<std::string> remedies;
  for (const GatewayFinding& finding : findings_of(text, policy)) {
    if (finding.rule == "price-outside-table") remedies.push_back(finding.remedy);
  }
  EXPECT_THAT(remedies, ElementsAre("write 5.0e-06")) << "5e-06 is a text in YAML 1.1";
}

TEST(GatewayPrices, ThoseOutsideThePublishedTableAreFound) {
  const GatewayPolicy policy = policy_of(kTable);
  const std::string found =
      "4 error price-outside-table model_list[0].litellm_params.input_cost_per_token";
  for (const char* input : {"2.7e-6", "1.3e-7", "0"}) {
    const std::string text =
        "cache_read_input_token_cost: 7e-8, output_cost_per_token: 1.1e-6, "
        "input_cost_per_token: " +
        std::string(input);
    EXPECT_THAT(failures_in(models(priced("deepseek/deepseek-chat", text)), policy),
                ElementsAre(found))
        << input;
    // By its alias, under a prefix that names a protocol only.
    EXPECT_THAT(failures_in(models(priced("openai/ds-chat", text)), policy), ElementsAre(found));
    // Another provider's price of the same model is another matter.
    EXPECT_THAT(failures_in(models(priced("openrouter/deepseek/deepseek-chat", text)), policy),
                IsEmpty());
  }
}

TEST(GatewayPrices, PricesOfModelInfoAndItsBaseModelAreRead) {
  const std::string text = models(
      "  - {model_name: a, litellm_params: {model: azure/mine}, model_info: {base_model: "
      "deepseek/deepseek-chat, input_cost_per_token: 1, output_cost_per_token: 1.1e-6, "
      "cache_read_input_token_cost: 7e-8}}\n");
  EXPECT_THAT(
      failures_in(text, policy_of(kTable)),
      ElementsAre("4 error price-outside-table model_list[0].model_info.input_cost_per_token"));
}

TEST(GatewayPrices, OffPeakPricesAreHeldAgainstTheTableToo) {
  const std::string own =
      "input_cost_per_token: 2.7e-7, output_cost_per_token: 1.1e-6, "
      "cache_read_input_token_cost: 7e-8";
  const auto with = [&](const std::string& params, const std::string& info) {
    return failures_in(
        models("  - {model_name: a, litellm_params: {model: deepseek/deepseek-chat, " + own +
               params + "}, model_info: {" + info + "}}\n"),
        policy_of(kTable));
  };
  EXPECT_THAT(with("", "off_peak_pricing: {input_cost_per_token: 1.35e-7}"), IsEmpty());
  EXPECT_THAT(with("", "off_peak_pricing: {input_cost_per_token: 1e-8}"),
              ElementsAre("4 error price-outside-table "
                          "model_list[0].model_info.off_peak_pricing.input_cost_per_token"));
  EXPECT_THAT(with(", off_peak_pricing: {input_cost_per_token: 1e-7}", "").size(), 1U);
}

TEST(GatewayPrices, EveryTokenClassHasAPrice) {
  const std::string found = "4 warning price-class-missing model_list[0].litellm_params.";
  EXPECT_THAT(
      failures_in(models(priced("deepseek/deepseek-chat",
                                "input_cost_per_token: 2.7e-7, output_cost_per_token: 1.1e-6")),
                  policy_of(kTable)),
      ElementsAre(found + "input_cost_per_token"));
  EXPECT_THAT(failures_in(models(priced("openai/own", "output_cost_per_token: 1e-6"))),
              ElementsAre(found + "output_cost_per_token"));
  EXPECT_THAT(failures_in(models(priced("openai/own",
                                        "input_cost_per_token: 1e-6, "
                                        "output_cost_per_token: 1e-6"))),
              IsEmpty());
}

TEST(GatewayPrices, OneModelHasOnePriceUnderAllItsNames) {
  const auto two = [](const std::string& a, const std::string& b) {
    return failures_in(models("  - {model_name: a, litellm_params: {model: deepseek/x" + a +
                              "}}\n  - {model_name: b, litellm_params: {model: DeepSeek/X" + b +
                              "}}\n"));
  };
  const std::string one = ", input_cost_per_token: 1e-6, output_cost_per_token: 2e-6";
  EXPECT_THAT(two(one, one), IsEmpty());
  EXPECT_THAT(two("", ""), IsEmpty());
  EXPECT_THAT(
      two(one, ", input_cost_per_token: 1e-6, output_cost_per_token: 3e-6"),
      ElementsAre("5 error price-differs model_list[1].litellm_params.output_cost_per_token"));
  EXPECT_THAT(two(one, ""), ElementsAre("5 warning price-differs model_list[1]"));
}

TEST(GatewayPrices, TablesThatCantBeComparedAreSaidInANote) {
  std::string yuan = kTable;
  yuan.replace(yuan.find("USD"), 3, "CNY");
  const std::string text = models(priced("deepseek/deepseek-chat",
                                         "input_cost_per_token: 1, output_cost_per_token: 1, "
                                         "cache_read_input_token_cost: 1"));
  EXPECT_THAT(failures_in(text, policy_of(yuan)), IsEmpty());
  EXPECT_THAT(notes_in(text, policy_of(yuan)), Contains(HasSubstr("note price-outside-table")));
}

std::string reserve(const std::string& a, const std::string& b,
                    const std::string& settings = "fallbacks: [{a: [b]}]") {
  return "router_settings: {retry_after: 1, " + settings +
         "}\nmodel_list:\n  - {model_name: a, "
         "litellm_params: {" +
         a + "}}\n  - {model_name: b, litellm_params: {" + b + "}}\n";
}

TEST(GatewayReserves, AFallbackAtAnotherProviderIsInOrder) {
  EXPECT_THAT(failures_in(reserve("model: openai/x, api_key: os.environ/A",
                                  "model: anthropic/y, api_key: os.environ/B")),
              IsEmpty());
  // The protocol is the same, the servers aren't; their keys are none.
  EXPECT_THAT(failures_in(reserve("model: openai/x, api_key: x, api_base: \"http://10.0.0.1\"",
                                  "model: openai/y, api_key: x, api_base: \"http://10.0.0.2\"")),
              IsEmpty());
}

TEST(GatewayReserves, OneThatSharesKeyAccountOrProviderIsFound) {
  const std::string at = "reserve-shared router_settings.fallbacks[0].a";
  EXPECT_THAT(failures_in(reserve("model: openai/x, api_key: os.environ/A",
                                  "model: openai/y, api_key: os.environ/A")),
              ElementsAre("1 error " + at));
  EXPECT_THAT(failures_in(reserve("model: openai/x", "model: openai/y")),
              ElementsAre("1 error " + at));
  EXPECT_THAT(failures_in(reserve("model: gpt-4o, organization: o, api_key: os.environ/A",
                                  "model: openai/y, organization: o, api_key: os.environ/B")),
              ElementsAre("1 error " + at));
  EXPECT_THAT(failures_in(reserve("model: vertex_ai/x, vertex_project: p",
                                  "model: vertex_ai/y, vertex_project: p")),
              ElementsAre("1 error " + at));
  EXPECT_THAT(failures_in(reserve("model: openai/x, api_key: os.environ/A",
                                  "model: openai/y, api_key: os.environ/B")),
              ElementsAre("1 warning " + at));
  EXPECT_THAT(failures_in(reserve("model: openai/x, api_base: \"https://api.z.example/v1\"",
                                  "model: openai/y, api_base: \"https://api.z.example/v2\"")),
              ElementsAre("1 warning " + at));
  EXPECT_THAT(failures_in(reserve("model: openai/x", "model: openai/y", "default_fallbacks: [b]")),
              ElementsAre("1 error reserve-shared router_settings.default_fallbacks"));
}

TEST(GatewayReserves, NoKeyIsEverPrinted) {
  const std::string key = "sk-verysecretverysecret";
  const GatewayFindings findings = findings_of(
      reserve("model: openai/x, api_key: " + key, "model: anthropic/y, api_key: " + key));
  ASSERT_THAT(failures_in(reserve("model: openai/x, api_key: " + key,
                                  "model: anthropic/y, api_key: " + key)),
              ElementsAre("1 error reserve-shared router_settings.fallbacks[0].a"));
  for (const GatewayFinding& finding : findings) {
    EXPECT_THAT(finding.reason + finding.remedy, Not(HasSubstr("secret")));
  }
}

TEST(GatewayReserves, OneIndependentFallbackIsEnough) {
  const std::string text = R"(
router_settings: {retry_after: 1, fallbacks: [{a: [b, c]}]}
model_list:
  - {model_name: a, litellm_params: {model: openai/x, api_key: os.environ/A}}
  - {model_name: b, litellm_params: {model: openai/y, api_key: os.environ/A}}
  - {model_name: c, litellm_params: {model: "mistral/*", api_key: os.environ/M}}
)";
  EXPECT_THAT(failures_in(text), IsEmpty());
}

TEST(GatewayReserves, AFallbackThatNobodyAnswersForIsFound) {
  EXPECT_THAT(failures_in(reserve("model: openai/x", "model: mistral/y", "fallbacks: [{a: [c]}]")),
              ElementsAre("1 error reserve-missing router_settings.fallbacks[0].a[0]"));
  // A wildcard or an alias does.
  EXPECT_THAT(failures_in(reserve("model: openai/x", "model: mistral/y",
                                  "fallbacks: [{a: [c]}], model_group_alias: {c: b}")),
              IsEmpty());
}

TEST(GatewayQuotas, ADeploymentWithADailyQuotaIsNotOneOfSeveral) {
  const auto group = [](const std::string& second, const std::string& general = "{}") {
    return failures_in(
        models("  - {model_name: a, litellm_params: {model: openai/x}}\n" + second, general));
  };
  const std::string at = "5 warning quota-in-group model_list[1].litellm_params.";
  EXPECT_THAT(group("  - {model_name: a, litellm_params: {model: \"openrouter/x:free\"}}\n"),
              ElementsAre(at + "model"));
  EXPECT_THAT(group("  - {model_name: a, litellm_params: {model: gemini/x, rpd: 50}}\n"),
              ElementsAre(at + "rpd"));
  EXPECT_THAT(group("  - {model_name: a, litellm_params: {model: gemini/x, max_budget: 1, "
                    "budget_duration: 1d}}\n"),
              ElementsAre(at + "max_budget"));
  // A group of its own, or a limit that is renewed within the hour.
  EXPECT_THAT(group("  - {model_name: b, litellm_params: {model: \"openrouter/x:free\"}}\n"),
              IsEmpty());
  EXPECT_THAT(group("  - {model_name: a, litellm_params: {model: gemini/x, max_budget: 1, "
                    "budget_duration: 30m}}\n"),
              IsEmpty());
  EXPECT_THAT(group("  - {model_name: a, litellm_params: {model: gemini/x, rpm: 50}}\n"),
              IsEmpty());
}

TEST(GatewayNames, AWildcardMatchesAnythingAndNothingElseIsSpecial) {
  EXPECT_TRUE(glob_matches("private/*", "private/qwen"));
  EXPECT_TRUE(glob_matches("*:free", "a/b:free"));
  EXPECT_TRUE(glob_matches("a*b*c", "axxbbxc"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_FALSE(glob_matches("private/*", "private"));
  EXPECT_FALSE(glob_matches("a.c", "abc"));
  EXPECT_FALSE(glob_matches("", "a"));
  // Stars without end cost no more than length times length.
  std::string stars;
  for (int i = 0; i < 1000; ++i) stars += "*a";
  EXPECT_FALSE(glob_matches(stars + "b", std::string(5000, 'a')));
}

}  // namespace
}  // namespace outcomed
