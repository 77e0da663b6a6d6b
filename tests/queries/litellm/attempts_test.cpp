// Counted attempts against what the provider behind real gateways was asked, model by model: a
// lower bound is never above the truth.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "queries/litellm/classify.h"
#include "queries/litellm/preset.h"
#include "queries/recording/recording_source.h"
#include "tests/support/upstream_truth.h"

namespace outcomed {
namespace {

constexpr Duration kStep = std::chrono::seconds(1);

struct Attempts {
  std::int64_t all = 0;
  std::int64_t failed = 0;
};
using AttemptsByModel = std::map<std::string, Attempts>;

AttemptsByModel truth_of(const std::string& folder) {
  AttemptsByModel truth;
  for (const auto& attempt : testing::read_upstream_attempts(folder + "/attempts.jsonl.gz")) {
    ++truth[attempt.model].all;
    truth[attempt.model].failed += attempt.failed ? 1 : 0;
  }
  return truth;
}

// The whole recording in one signal; cells with another `side` than the provider's are left out.
AttemptsByModel counted(const std::string& folder, const std::string& signal) {
  litellm::PresetSettings settings;
  settings.step = kStep;
  SignalPlan plan;
  for (SignalPlan& each : litellm::signals(settings)) {
    if (each.name == signal) plan = std::move(each);
  }
  RecordingSource source(RecordingSettings{folder + "/pages"}, std::vector{plan});
  const auto span = source.span();
  if (!span || !*span) return {};
  const TimeRange range{floor_to((**span).begin, kStep) - kStep,
                        floor_to((**span).end, kStep) + kStep};
  const auto fetched = source.fetch(range);
  if (!fetched) return {};
  const SignalBatch& batch = fetched->batches.front();
  AttemptsByModel sums;
  for (std::size_t i = 0; i < source.cells(0).size(); ++i) {
    const Labels& cell = source.cells(0)[i];
    if (signal == "absorption" && cell.get("side") != "provider") continue;
    const std::string_view error_class = cell.get("error_class");
    const bool failure = signal == "absorption" || error_class == "provider_unavailable" ||
                         error_class == "deadline_exceeded";
    Attempts& sum = sums[std::string(cell.get("model"))];
    for (std::size_t step = 0; step < batch.steps(); ++step) {
      sum.all += batch.n[i * batch.steps() + step];
      if (failure) sum.failed += batch.k[i * batch.steps() + step];
    }
  }
  return sums;
}

using Case = std::tuple<std::string, std::string>;  // Recording, signal.

class CountedAttempts : public ::testing::TestWithParam<Case> {};

TEST_P(CountedAttempts, NeverExceedWhatTheProviderWasAskedAndComeNearIt) {
  const auto& [recording, signal] = GetParam();
  const std::string folder = std::string(OUTCOMED_DATA) + "/litellm/" + recording;
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "the recordings of real gateways are not here: " << folder;
  }
  const AttemptsByModel truth = truth_of(folder);
  const AttemptsByModel ours = counted(folder, signal);
  ASSERT_FALSE(ours.empty());
  for (const auto& [model, attempts] : ours) {
    const auto asked = truth.find(model);
    ASSERT_NE(asked, truth.end()) << "no provider was ever asked for " << model << ", but "
                                  << attempts.all << " attempts are counted";
    EXPECT_LE(attempts.all, asked->second.all) << model;
    EXPECT_LE(attempts.failed, asked->second.failed) << model;
  }
  // Retries and provider 401s are all that is missing: a bound of zero would be one, too.
  for (const auto& [model, attempts] : truth) {
    const auto found = ours.find(model);
    ASSERT_NE(found, ours.end()) << model;
    EXPECT_GE(found->second.all, attempts.all * 95 / 100) << model;
  }
}

INSTANTIATE_TEST_SUITE_P(OfRealGateways, CountedAttempts,
                         ::testing::Combine(::testing::Values("1.81.9", "1.86.7", "1.99.4",
                                                              "1.106.12", "1.81.9-two-workers",
                                                              "1.99.4-two-workers"),
                                            ::testing::Values("provider", "absorption")),
                         [](const auto& parameter) {
                           std::string name = "v" + std::get<0>(parameter.param) + "_" +
                                              std::get<1>(parameter.param);
                           std::ranges::replace_if(
                               name, [](char c) { return c != '_' && std::isalnum(c) == 0; }, '_');
                           return name;
                         });

TEST(ReachedProvider, OnlyWhatHasAProviderInFrontAndIsNotRaisedBeforeSending) {
  using litellm::reached_provider;
  EXPECT_TRUE(reached_provider("Openai.InternalServerError", "500"));
  EXPECT_TRUE(reached_provider("Openai.BadRequestError", "400"));
  EXPECT_TRUE(reached_provider("Hosted_vllm.Timeout", "408"));
  EXPECT_TRUE(reached_provider("Openai.RateLimitError", "429"));
  EXPECT_TRUE(reached_provider("Openai.APIError", "413"));
  EXPECT_TRUE(reached_provider("Openai.SomethingNew", "500"));
  EXPECT_FALSE(reached_provider("ProxyModelNotFoundError", "400"));
  EXPECT_FALSE(reached_provider("RateLimitError", "429"));
  EXPECT_FALSE(reached_provider("HTTPException", "400"));
  EXPECT_FALSE(reached_provider("ContextWindowExceededError", "400"));  // Checked by the router.
  EXPECT_FALSE(reached_provider("TypeError", "None"));
  EXPECT_FALSE(reached_provider("Openai.RouterRateLimitError", "None"));
  EXPECT_FALSE(reached_provider("Openai.UnsupportedParamsError", "400"));
  EXPECT_FALSE(reached_provider("", ""));
}

}  // namespace
}  // namespace outcomed
