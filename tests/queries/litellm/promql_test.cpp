// Selectors for rule files against the engine's own judgement, exception by exception.
#include "queries/litellm/promql.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "queries/error_class.h"
#include "queries/litellm/classify.h"
#include "tests/support/litellm_exceptions.h"

namespace outcomed::litellm {
namespace {

std::ptrdiff_t taken_by(const std::vector<Matchers>& selectors, const std::string& exception,
                        const std::string& status) {
  const Labels series = {{"exception_class", exception}, {"exception_status", status}};
  return std::ranges::count_if(
      selectors, [&](const Matchers& matchers) { return all_match(matchers, series); });
}

// Each exception that is wanted is in one selector, and no other is in any.
void expect_same(const ExceptionTest& wanted, const std::string& about) {
  std::vector<std::string> statuses = testing::exception_statuses();
  for (int code = 100; code < 700; ++code) statuses.push_back(std::to_string(code));
  const auto selectors = exception_selectors(wanted);
  for (const std::string& exception : testing::exception_classes()) {
    for (const std::string& status : statuses) {
      EXPECT_EQ(taken_by(selectors, exception, status), wanted(exception, status) ? 1 : 0)
          << about << ": " << exception << " " << status;
    }
  }
}

TEST(ExceptionSelectors, TakeEachErrorClassAndNothingElse) {
  using namespace error_class;  // NOLINT: names of the classes only.
  for (const std::string_view error_class :
       {kInvalidRequest, kPolicyRejection, kAuthentication, kModelNotFound, kRateLimited,
        kQuotaExhausted, kProviderUnavailable, kDeadlineExceeded, kOutputInvalid, kRouterRefusal,
        kUnknown}) {
    expect_same(
        [&](auto exception, auto status) { return classify(exception, status) == error_class; },
        std::string(error_class));
    expect_same(
        [&](auto exception, auto status) { return classify(exception, status) != error_class; },
        "not " + std::string(error_class));
  }
}

TEST(ExceptionSelectors, TakeTwoClassesTogether) {
  expect_same(
      [](auto exception, auto status) {
        const auto found = classify(exception, status);
        return found == error_class::kDeadlineExceeded || found == error_class::kUnknown;
      },
      "deadline_exceeded or unknown");
}

TEST(ExceptionSelectors, TakeEachCauseOfRefusalsAndWhatReachedAProvider) {
  for (const std::string_view cause :
       {"", "cooldown", "deployment_cap", "key_limit", "budget", "routing"}) {
    expect_same(
        [&](auto exception, auto status) { return refusal_cause(exception, status) == cause; },
        "cause " + std::string(cause));
  }
  expect_same([](auto exception, auto status) { return reached_provider(exception, status); },
              "reached a provider");
}

TEST(ExceptionSelectors, AreOneWithoutMatchersForAllAndNoneForNothing) {
  const auto all = exception_selectors([](auto, auto) { return true; });
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(all[0].empty());
  EXPECT_TRUE(exception_selectors([](auto, auto) { return false; }).empty());
}

TEST(ExceptionSelectors, ReadLikeWrittenByHand) {
  const auto selectors = exception_selectors([](auto exception, auto status) {
    return classify(exception, status) == error_class::kRouterRefusal;
  });
  ASSERT_EQ(selectors.size(), 2U);
  EXPECT_EQ((Selector{"x", selectors[0]}).to_string(),
            "x{exception_class=~\"RateLimitError|ValueError|(.*[.])?(Router[^.]*|"
            "ProxyRateLimitError)\"}");
  EXPECT_EQ((Selector{"x", selectors[1]}).to_string(),
            R"(x{exception_class=~"HTTPException",exception_status=~"429"})");
}

}  // namespace
}  // namespace outcomed::litellm
