// What is made of a file: Python's YAML, includes, hostile input; and the policy's own file.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "daemon/gateway/rule_list.h"
#include "tests/daemon/gateway/gateway_texts.h"
#include "tests/support/temp_folder.h"

namespace outcomed {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::failures_in;
using testing::findings_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kGoodModels;
using testing::kGoodRouter;
using testing::notes_in;
using testing::policy_of;
using testing::TempFolder;

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string problems_of(const std::string& text) {
  const LoadedGateway loaded = load_gateway_text(text, "g.yaml");
  return to_text(loaded.problems);
}

TEST(GatewayFile, AliasesAndMergeKeysAreFollowed) {
  const std::string text = R"(
x-defaults: &azure
  api_base: "http://8.8.8.8"
  cooldown_time: 60
router_settings: {retry_after: 1}
model_list:
  - model_name: private/a
    litellm_params:
      <<: *azure
      model: azure/a
  - model_name: b
    litellm_params: {<<: [{cooldown_time: 5}, *azure], model: azure/b}
)";
  // Said where the value is written, with the path where it counts.
  EXPECT_THAT(failures_in(text),
              ElementsAre("3 error private-address model_list[0].litellm_params.api_base",
                          "4 error cooldown-too-long model_list[0].litellm_params.cooldown_time"));
}

TEST(GatewayFile, AnAliasBombIsRefused) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int k = 0; k < 9; ++k) text += ", " + last;
    text += "]\n";
  }
  EXPECT_THAT(problems_of(text),
              AllOf(HasSubstr("more than 100000 values"), HasSubstr("fewer aliases")));
}

TEST(GatewayFile, AliasesThatNestAreRefusedBeforeTheyAreDeep) {
  std::string text = "a0: &a0 [x]\n";
  for (int i = 1; i < 80; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
            "]\n";
  }
  EXPECT_THAT(problems_of(text), HasSubstr("more than 64 levels of nesting"));
}

TEST(GatewayFile, BrokenAliasesAreSaidWithTheirPlace) {
  EXPECT_THAT(problems_of("model_list: &a [*a]\n"),
              HasSubstr("g.yaml:1:17: the alias refers to itself"));
  EXPECT_THAT(problems_of("model_list: *nobody\n"), HasSubstr("the alias names no anchor above"));
  EXPECT_THAT(problems_of("a: &a [1]\nmodel_list:\n  - <<: *a\n"),
              HasSubstr("a merge key (<<) takes mappings"));
}

TEST(GatewayFile, OfAKeyThatStandsTwiceTheLastCounts) {
  EXPECT_THAT(failures_in("router_settings:\n  retry_after: 1\n  cooldown_time: 5\n"
                          "  cooldown_time: 50\n" +
                          std::string(kGoodModels)),
              ElementsAre("4 warning file-duplicate-key router_settings.cooldown_time",
                          "4 error cooldown-too-long router_settings.cooldown_time"));
}

TEST(GatewayFile, WhatCantBeJudgedIsAProblemWithItsPlace) {
  EXPECT_THAT(problems_of(""), HasSubstr("holds no settings"));
  EXPECT_THAT(problems_of("- a\n"), HasSubstr("holds no settings"));
  EXPECT_THAT(problems_of("rules: []\n"), HasSubstr("name the configuration of a LiteLLM proxy"));
  EXPECT_THAT(problems_of("model_list: {a: b}\n"),
              HasSubstr("g.yaml:1:13: model_list: is not a list"));
  EXPECT_THAT(problems_of("model_list: [{litellm_params: {model: x}}]\n"),
              HasSubstr("g.yaml:1:14: model_list[0]: the deployment has no model_name"));
  EXPECT_THAT(problems_of("model_list: [{model_name: x}]\n"), HasSubstr("x has no litellm_params"));
  EXPECT_THAT(problems_of("router_settings: 5\n"), HasSubstr("is not a mapping"));
  EXPECT_THAT(problems_of("router_settings: {fallbacks: {a: [b]}}\n"), HasSubstr("is not a list"));
  EXPECT_THAT(problems_of("router_settings: {fallbacks: [a]}\n"),
              HasSubstr("is not a mapping of one group to its fallbacks"));
  // Half-written files.
  EXPECT_THAT(problems_of("model_list:\n  - model_name: \"half"), HasSubstr("g.yaml:2:"));
  EXPECT_THAT(problems_of("model_list:\n  - {model_name: \"half\n"), HasSubstr("g.yaml:2:"));
  EXPECT_THAT(problems_of("model_list: [\n"), HasSubstr("g.yaml:"));
  EXPECT_THAT(problems_of(std::string("model_list: \0", 13)), HasSubstr("NUL"));
  EXPECT_THAT(problems_of("model_list: \xff"), HasSubstr("not UTF-8"));
  EXPECT_THAT(problems_of(std::string(2'000'000, 'x')), HasSubstr("larger than 1MiB"));
  EXPECT_THAT(problems_of("model_list: " + std::string(100, '[')), HasSubstr("g.yaml:"));
}

TEST(GatewayFile, NullsAndOddShapesAreNoneOfOurBusiness) {
  const std::string text = R"(
model_list:
  - {model_name: a, litellm_params: {model: openai/a, api_base: null, tags: [x], extra: {y: 1}}, model_info: null}
router_settings: {retry_after: 1, fallbacks: null, model_group_alias: null, redis_host: os.environ/R}
litellm_settings: null
environment_variables: {A: b}
anything: [1, {2: 3}]
)";
  EXPECT_THAT(failures_in(text), IsEmpty());
}

TEST(GatewayFile, ADatabaseHoldsWhatIsNotJudged) {
  const std::string text = std::string(kGoodModels) + std::string(kGoodRouter) +
                           "general_settings: {store_model_in_db: ";
  EXPECT_THAT(notes_in(text + "true}\n"),
              ElementsAre("13 note file-database general_settings.store_model_in_db"));
  EXPECT_THAT(notes_in(text + "false}\n"), IsEmpty());
}

TEST(GatewayInclude, IncludedListsAreAddedAndMappingsReplaceTheirNamesakes) {
  const TempFolder folder;
  write(folder / "g.yaml",
        "include: [models.yaml]\nrouter_settings: {retry_after: 1, cooldown_time: 60}\n"
        "model_list:\n  - {model_name: a, litellm_params: {model: openai/a}}\n");
  write(folder / "models.yaml",
        "model_list:\n  - {model_name: private/b, litellm_params: {model: openai/b}}\n"
        "router_settings: {retry_after: 1, cooldown_time: 5}\n");
  const LoadedGateway loaded = load_gateway(folder / "g.yaml");
  ASSERT_TRUE(loaded.ok()) << to_text(loaded.problems);
  const GatewayFindings findings = run_checks(loaded.config, {});
  const auto found = std::ranges::find(findings, "private-address", &GatewayFinding::rule);
  ASSERT_NE(found, findings.end());
  EXPECT_EQ(found->spot.file, folder / "models.yaml");
  EXPECT_EQ(found->spot.place, (Place{2, 5}));
  EXPECT_EQ(found->main_file, folder / "g.yaml");
  EXPECT_EQ(std::ranges::find(findings, "cooldown-too-long", &GatewayFinding::rule),
            findings.end());
}

TEST(GatewayInclude, WhatCantBeReadIsAProblemWhereItIsNamed) {
  const TempFolder folder;
  const std::string main = folder / "g.yaml";
  const auto problems = [&](const std::string& include) {
    write(main, "model_list: []\ninclude: " + include + "\n");
    return to_text(load_gateway(main).problems);
  };
  EXPECT_THAT(problems("[gone.yaml]"),
              AllOf(HasSubstr("g.yaml:2:11: include[0]"), HasSubstr("gone.yaml")));
  EXPECT_THAT(problems("gone.yaml"), HasSubstr("is not a list of files"));
  EXPECT_THAT(problems("[{a: b}]"), HasSubstr("is not the name of a file"));
  EXPECT_THAT(problems("[g.yaml]"), HasSubstr("is read twice"));
  EXPECT_THAT(problems("[/dev/zero]"), HasSubstr("not a regular file"));
  write(folder / "broken.yaml", "model_list: [\n");
  EXPECT_THAT(problems("[broken.yaml]"), HasSubstr("broken.yaml:"));
  EXPECT_THAT(to_text(load_gateway(folder / "nothing.yaml").problems), HasSubstr("can't be read"));
}

TEST(GatewayInclude, IncludesThatNameEachOtherEnd) {
  const TempFolder folder;
  write(folder / "g.yaml", "include: [a.yaml]\nmodel_list: []\n");
  write(folder / "a.yaml", "include: [b.yaml]\n");
  write(folder / "b.yaml", "include: [a.yaml]\n");
  EXPECT_THAT(to_text(load_gateway(folder / "g.yaml").problems), HasSubstr("is read twice"));
}

std::string policy_problems(const std::string& text) {
  return to_text(load_policy_text(text, "p.yaml").problems);
}

TEST(GatewayPolicyFile, TheDefaultsReadBackAsTheDefaults) {
  const LoadedPolicy loaded = load_policy_text(default_policy_text(), "defaults");
  EXPECT_THAT(to_text(loaded.problems), IsEmpty());
  EXPECT_EQ(loaded.policy, GatewayPolicy{});
  EXPECT_EQ(load_policy_text("", "empty").policy, GatewayPolicy{});
}

TEST(GatewayPolicyFile, UnknownKeysAreErrorsWithPlaceAndHint) {
  EXPECT_THAT(
      policy_problems("cooldown: {longets: 5s}\n"),
      AllOf(HasSubstr("p.yaml:1:12: cooldown.longets"), HasSubstr("did you mean longest?")));
  EXPECT_THAT(policy_problems("private: {domain: [a]}\n"), HasSubstr("did you mean domains?"));
  EXPECT_THAT(policy_problems("checks: {cooldown-to-long: {level: note}}\n"),
              HasSubstr("did you mean cooldown-too-long?"));
  EXPECT_THAT(policy_problems("checks: {retry-pause: {enabeld: false}}\n"),
              HasSubstr("did you mean enabled?"));
  EXPECT_THAT(policy_problems("- x\n"), HasSubstr("is no mapping"));
  EXPECT_THAT(policy_problems("cooldown: {longest: 15}\n"), HasSubstr("cooldown.longest"));
  EXPECT_THAT(policy_problems("price_tolerance: 10\n"), HasSubstr("did you mean 10%?"));
  EXPECT_THAT(policy_problems("private: {domains: [\"https://corp.example\"]}\n"),
              HasSubstr("is not a domain"));
  EXPECT_THAT(policy_problems("a: &x 1\n"), HasSubstr("anchors (&name) are not supported"));
}

TEST(GatewayPolicyFile, ACheckIsSwitchedOffWithAReasonOrNotAtAll) {
  EXPECT_THAT(policy_problems("checks: {retry-pause: {enabled: false}}\n"),
              HasSubstr("is switched off without a reason"));
  EXPECT_THAT(policy_problems("checks: {retry-pause: off}\n"), HasSubstr("write {enabled: false"));
  EXPECT_THAT(policy_problems("checks: {retry-pause: {level: fatal}}\n"),
              HasSubstr("one of error, warning, note"));
  const std::string models(kGoodModels);
  EXPECT_THAT(failures_in(models), ElementsAre("1 warning retry-pause router_settings"));
  EXPECT_THAT(
      failures_in(models, policy_of("checks: {retry-pause: {enabled: false, reason: why}}")),
      IsEmpty());
  EXPECT_THAT(failures_in(models, policy_of("checks: {retry-pause: {level: note}}")), IsEmpty());
  EXPECT_THAT(failures_in(models, policy_of("checks: {retry-pause: {level: error}}")),
              ElementsAre("1 error retry-pause router_settings"));
}

TEST(GatewayPolicyFile, PriceTablesAreReadStrictly) {
  const auto table = [](const std::string& models) {
    return policy_problems("prices:\n  - {provider: p, currency: USD, models: {" + models + "}}\n");
  };
  EXPECT_THAT(table("m: {flat: {input: 1, output: 2.5}}"), IsEmpty());
  EXPECT_THAT(table("m: {flat: {input: 1 EUR, output: 1}}"), HasSubstr("EUR"));
  EXPECT_THAT(table("m: {flat: {input: -1, output: 1}}"), HasSubstr("models.m.flat.input"));
  EXPECT_THAT(table("m: {flat: {inptu: 1, output: 1}}"), HasSubstr("did you mean input?"));
  EXPECT_THAT(table("m: {peek: {input: 1, output: 1}}"), HasSubstr("did you mean peak?"));
  EXPECT_THAT(table("m: 5"), HasSubstr("models.m"));
  EXPECT_THAT(policy_problems("prices: [{models: {}}]\n"), HasSubstr("provider"));
}

TEST(GatewayRules, EachHasAPageEntryAndIsKnownByItsId) {
  std::ifstream page(OUTCOMED_SOURCE_DIR "/docs/gateway_check.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  for (const GatewayRule& rule : rule_list()) {
    EXPECT_EQ(find_rule(rule.id), &rule);
    EXPECT_THAT(text, HasSubstr("`" + std::string(rule.id) + "`"));
  }
  EXPECT_EQ(find_rule("nothing"), nullptr);
}

// Configurations of real proxies, where the recordings have some.
// The block of YAML of a documentation page that begins with this line.
std::string documented(const std::string& page, const std::string& first_line) {
  std::ifstream in(std::string(OUTCOMED_SOURCE_DIR) + "/docs/" + page);
  std::string text(std::istreambuf_iterator<char>(in), {});
  const auto begin = text.find("```yaml\n" + first_line);
  if (begin == std::string::npos) return {};
  const auto from = begin + std::string_view("```yaml\n").size();
  return text.substr(from, text.find("```", from) - from);
}

TEST(GatewayPolicyFile, WhatTheDocumentationAndTheDefaultsShowCanBeRead) {
  const std::string shown = documented("gateway_check.md", "prices:\n");
  ASSERT_NE(shown, "");
  EXPECT_EQ(to_text(load_policy_text(shown, "policy.yaml").problems), "");
  // The example of prices in the built-in policy, without its comment signs.
  std::string text(default_policy_text());
  const auto begin = text.find("#   - provider:");
  const auto end = text.find("prices: []");
  ASSERT_NE(begin, std::string::npos);
  std::string example = "prices:\n";
  std::istringstream lines(text.substr(begin, end - begin));
  for (std::string line; std::getline(lines, line);) example += line.substr(1) + "\n";
  text.replace(begin, end + std::string_view("prices: []").size() - begin, example);
  EXPECT_EQ(to_text(load_policy_text(text, "policy.yaml").problems), "");
}

}  // namespace
}  // namespace outcomed
