#include "queries/litellm/leaks.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace outcomed::litellm {
namespace {

SignalPlan plan() {
  PresetSettings settings;
  settings.keep_private = {{"private/*"}, {{"corp.example"}}};
  return leaks(settings);
}

// What a series of the gateway adds to: labels of the cell, and whether to n and k.
struct Adds {
  Labels labels;
  bool n = false;
  bool k = false;
  friend bool operator==(const Adds&, const Adds&) = default;
};

std::vector<Adds> adds(const std::string& metric, const Labels& raw) {
  std::vector<Adds> found;
  for (const CounterTerm& term : plan().terms) {
    if (term.selector.metric != metric) continue;
    if (auto labels = term.labels(raw)) found.push_back({*labels, term.counts_n, term.counts_k});
  }
  return found;
}

constexpr const char* kFallbacks = "litellm_deployment_successful_fallbacks_total";
constexpr const char* kSuccesses = "litellm_deployment_success_responses_total";

TEST(Leaks, AreFallbacksOfAPrivateGroupToOneThatIsNot) {
  EXPECT_EQ(
      adds(kFallbacks, {{"requested_model", "private/qwen"}, {"fallback_model", "gpt-4o"}}),
      (std::vector<Adds>{{{{"model", "private/qwen"}, {"served_by", "gpt-4o"}, {"way", "fallback"}},
                          true,
                          true}}));
}

TEST(Leaks, AreNotFallbacksWithinTheHouse) {
  EXPECT_TRUE(
      adds(kFallbacks, {{"requested_model", "private/qwen"}, {"fallback_model", "private/llama"}})
          .empty());
  EXPECT_TRUE(
      adds(kFallbacks, {{"requested_model", "gpt-4o"}, {"fallback_model", "claude"}}).empty());
}

TEST(Leaks, AreAttemptsAtAForeignAddressThoughTheyFailed) {
  const auto found = adds("litellm_deployment_failed_fallbacks_total",
                          {{"requested_model", "private/qwen"}, {"fallback_model", "gpt-4o"}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].labels.get("way"), "failed fallback");
}

TEST(Leaks, AreSuccessesOfADeploymentOutside) {
  const auto served = [](const std::string& api_base) {
    return adds(kSuccesses, {{"requested_model", "private/qwen"},
                             {"litellm_model_name", "gpt-4o"},
                             {"api_base", api_base}});
  };
  ASSERT_EQ(served("https://api.openai.com/v1").size(), 1U);
  EXPECT_EQ(served("https://api.openai.com/v1")[0],
            (Adds{{{"model", "private/qwen"}, {"served_by", "gpt-4o"}, {"way", "deployment"}},
                  false,
                  true}));
  EXPECT_EQ(served("None").size(), 1U) << "the provider's own default address is outside";
  EXPECT_EQ(served("https://10.0.0.7@example.com/").size(), 1U) << "the host is example.com";
  EXPECT_TRUE(served("http://10.0.0.7:8000/v1").empty());
  EXPECT_TRUE(served("https://llm.corp.example/v1").empty());
  EXPECT_EQ(served("https://corp.example.evil.com/v1").size(), 1U);
}

TEST(Leaks, AreAttemptsAtADeploymentOutsideThatFailed) {
  const auto failed = [](const std::string& exception, const std::string& api_base,
                         const std::string& model_id) {
    return adds("litellm_deployment_failure_responses_total", {{"requested_model", "private/qwen"},
                                                               {"litellm_model_name", "gpt-4o"},
                                                               {"exception_class", exception},
                                                               {"exception_status", "None"},
                                                               {"api_base", api_base},
                                                               {"model_id", model_id}});
  };
  EXPECT_EQ(failed("Openai.InternalServerError", "https://api.openai.com/v1", "cloud"),
            (std::vector<Adds>{
                {{{"model", "private/qwen"}, {"served_by", "gpt-4o"}, {"way", "failed deployment"}},
                 true,
                 true}}));
  EXPECT_TRUE(failed("Openai.InternalServerError", "http://10.0.0.7:8000/v1", "house").empty());
}

TEST(Leaks, AreNotRefusalsOfTheGatewayThatWereSentNowhere) {
  const auto refused = [](const std::string& api_base, const std::string& model_id) {
    return adds("litellm_deployment_failure_responses_total",
                {{"requested_model", "private/qwen"},
                 {"exception_class", "RouterRateLimitError"},
                 {"exception_status", "None"},
                 {"api_base", api_base},
                 {"model_id", model_id}});
  };
  EXPECT_TRUE(refused("", "").empty());
  EXPECT_TRUE(refused("https://api.openai.com/v1", "cloud").empty()) << "as 1.81.9 books some";
}

TEST(Leaks, CountRequestsOfPrivateGroupsOnly) {
  const std::string latency = "litellm_request_total_latency_metric_count";
  EXPECT_EQ(adds(latency, {{"requested_model", "private/qwen"}}).size(), 1U);
  EXPECT_TRUE(adds(latency, {{"requested_model", "gpt-4o"}}).empty());
}

TEST(Leaks, AreASignalOnlyWhereGroupsArePrivate) {
  const auto has_leaks = [](const PresetSettings& settings) {
    const auto all = signals(settings);
    return std::ranges::find(all, "leaks", &SignalPlan::name) != all.end();
  };
  EXPECT_FALSE(has_leaks({}));
  PresetSettings settings;
  settings.keep_private.groups = {"private/*"};
  EXPECT_TRUE(has_leaks(settings));
}

}  // namespace
}  // namespace outcomed::litellm
