// The signals made from rows of LiteLLM_SpendLogs: row by row, and against what the clients of real
// gateways got.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/queries/litellm/ledger_fixture.h"
#include "tests/support/spend_rows.h"

namespace outcomed {
namespace {

using litellm::LedgerRow;
using testing::Ledger;
using testing::served;
using testing::Truth;

LedgerRow failed_row(std::string_view error_class, std::string_view code,
                     std::string_view provider) {
  LedgerRow row;
  row.status = "failure";
  row.model_group = "judge";
  row.error_class = error_class;
  row.error_code = code;
  row.error_provider = provider;
  return row;
}

TEST(LedgerRow, OfAnAttemptEndsInItsNumber) {
  LedgerRow row;
  for (const char* id : {"c1-attempt-2", "chatcmpl-attempt-1-attempt-12"}) {
    row.request_id = id;
    EXPECT_TRUE(is_attempt(row)) << id;
  }
  for (const char* id : {"", "c1", "c1-attempt-", "c1-attempt-x", "c1-attempt-2b", "attempt-1"}) {
    row.request_id = id;
    EXPECT_FALSE(is_attempt(row)) << id;
  }
}

TEST(LedgerRow, NamesTheModelThatWasAskedFor) {
  LedgerRow row;
  row.model = "openai/gpt-4o-2024";
  EXPECT_EQ(asked_model(row), "openai/gpt-4o-2024");
  row.model_group = "gpt-4o";
  EXPECT_EQ(asked_model(row), "gpt-4o");
  row.original_model_group = "flaky";
  EXPECT_EQ(asked_model(row), "flaky");
}

TEST(LedgerRow, TellsTheProvidersLimitFromTheGateways) {
  EXPECT_EQ(error_class_of(failed_row("RateLimitError", "429", "openai")), "rate_limited");
  EXPECT_EQ(error_class_of(failed_row("RateLimitError", "429", "")), "router_refusal");
  EXPECT_EQ(error_class_of(failed_row("RouterRateLimitError", "", "")), "router_refusal");
  EXPECT_EQ(error_class_of(failed_row("BudgetExceededError", "", "")), "quota_exhausted");
  EXPECT_EQ(exception_class(failed_row("Timeout", "408", "hosted_vllm")), "Hosted_vllm.Timeout");
}

TEST(LedgerRow, WithoutStatusFailedWhenItNamesAnError) {
  LedgerRow row;
  EXPECT_FALSE(has_failed(row));
  row.error_class = "Timeout";
  EXPECT_TRUE(has_failed(row));
  row.status = "success";
  EXPECT_FALSE(has_failed(row));
}

TEST(LedgerRow, SaysHowManyAttemptsThereWere) {
  const auto attempts = [](const LedgerRow& row) {
    const auto of = litellm::attempts_of(row);
    return std::pair(of.all, of.failed);
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  LedgerRow row;
  row.status = "success";
  EXPECT_EQ(attempts(row), Pair(1, 0));
  row.attempted_retries = "2";
  EXPECT_EQ(attempts(row), Pair(3, 2));
  row.attempted_fallbacks = "1";
  EXPECT_EQ(attempts(row), Pair(4, 3));
  row.attempted_retries = "-3";  // No count.
  EXPECT_EQ(attempts(row), Pair(2, 1));
  EXPECT_EQ(attempts(failed_row("InternalServerError", "500", "openai")), Pair(1, 1));
  EXPECT_EQ(attempts(failed_row("RateLimitError", "429", "openai")), Pair(1, 0));
  EXPECT_EQ(attempts(failed_row("RouterRateLimitError", "", "")), Pair(0, 0));
  EXPECT_EQ(attempts(failed_row("ProxyModelNotFoundError", "400", "")), Pair(0, 0));
  LedgerRow refused = failed_row("RouterRateLimitError", "", "");
  refused.model_id = "judge-1";
  refused.attempted_retries = "2";
  EXPECT_EQ(attempts(refused), Pair(2, 2));
}

TEST(LedgerNumbers, AreReadHoweverTheyAreTyped) {
  std::int64_t value = -1;
  EXPECT_TRUE(litellm::read_count("", value));
  EXPECT_EQ(value, 0);
  EXPECT_TRUE(litellm::read_count("12.0", value));
  EXPECT_EQ(value, 12);
  EXPECT_TRUE(litellm::read_count("1.2e3", value));
  EXPECT_EQ(value, 1200);
  EXPECT_TRUE(litellm::read_money("7.4e-05", value));
  EXPECT_EQ(value, 74'000);
  for (const char* text : {"NaN", "Infinity", "-1", "1e300", "12x", "9223372036854775808"}) {
    value = 5;
    EXPECT_FALSE(litellm::read_count(text, value)) << text;
    EXPECT_EQ(value, 0) << text;
  }
}

TEST(Ledger, ReasoningIsWhatTheAnswerSays) {
  Ledger ledger({"reasoning"});
  ledger.add(served());
  auto silent = served("r2");
  silent["metadata"] =
      R"({"usage_object": {"completion_tokens_details": {"reasoning_tokens": null}}})";
  ledger.add(silent);
  EXPECT_EQ(ledger.sum(0, {{"consumer", "batch"}}), std::pair(std::int64_t{20}, std::int64_t{8}));
  EXPECT_EQ(ledger.sum(0, {{"consumer", "key"}}), std::pair(std::int64_t{20}, std::int64_t{0}));
}

TEST(Ledger, SpendHoldsAmountsByKind) {
  Ledger ledger({"spend"});
  ledger.add(served());
  auto attempt = served("r1-attempt-1");
  ledger.add(attempt);
  auto failure = served("r3");
  failure["status"] = "failure";
  failure["spend"] = "0";
  ledger.add(failure);  // Its tokens are estimates.
  const auto of = [&](const char* kind) { return ledger.sum(0, {{"kind", kind}}).first; };
  EXPECT_EQ(of("requests"), 2);  // The attempt is none.
  EXPECT_EQ(of("recorded_cost"), 600'000);
  EXPECT_EQ(of("prompt_tokens"), 100);
  EXPECT_EQ(of("cached_tokens"), 32);
  EXPECT_EQ(of("completion_tokens"), 40);
  EXPECT_EQ(of("reasoning_tokens"), 16);
  EXPECT_EQ(of("expected_cost"), 0);
}

TEST(Ledger, ProbesAreNoRequestsOfConsumers) {
  Ledger ledger({"requests", "probes", "probe_spend"});
  ledger.add(served());
  auto probe = served("p1");
  probe["api_key"] = probe["team_id"] = "litellm-internal-health-check";
  ledger.add(probe);
  EXPECT_EQ(ledger.sum(0, {}).first, 1);
  EXPECT_EQ(ledger.sum(1, {}), std::pair(std::int64_t{2}, std::int64_t{1}));
  EXPECT_EQ(ledger.sum(2, {}), std::pair(std::int64_t{600'000}, std::int64_t{300'000}));
}

TEST(Ledger, WhatIsNoAmountCountsAsNothingAndIsSaid) {
  Ledger ledger({"spend"});
  auto row = served();
  row["spend"] = "NaN";
  row["prompt_tokens"] = "-5";
  row.erase("completion_tokens");
  ledger.add(row);
  EXPECT_EQ(ledger.sum(0, {{"kind", "recorded_cost"}}).first, 0);
  EXPECT_EQ(ledger.sum(0, {{"kind", "prompt_tokens"}}).first, 0);
  EXPECT_EQ(ledger.counter().take_problems().size(), 2U);
  EXPECT_TRUE(ledger.counter().take_problems().empty());
}

TEST(Ledger, BrokenMetadataAndBytesStillCount) {
  Ledger ledger({"requests", "spend", "reasoning"});
  auto row = served();
  for (const char* metadata : {"[]", "7", "\"x\"", "{\"usage_object\": \"none\"}", "{}"}) {
    row["metadata"] = metadata;
    ledger.add(row);
  }
  row["model_group"] = "gpt\xff";
  ledger.add(row);
  EXPECT_EQ(ledger.sum(0, {}).first, 6);
  EXPECT_EQ(ledger.sum(0, {{"model", "gpt\xef\xbf\xbd"}}).first, 1);
}

TEST(Ledger, CellsKeepTheirIdsOverARestart) {
  Ledger before({"requests"});
  before.add(served());
  const std::vector<Labels> cells = before.counter().cells(0);
  Ledger after({"requests"});
  after.counter().seed_cells(0, cells);
  auto other = served("r2");
  other["model_group"] = "judge";
  after.add(other);
  after.add(served("r3"));
  ASSERT_EQ(after.counter().cells(0).size(), 2U);
  EXPECT_EQ(after.counter().cells(0)[0], cells[0]);
}

struct Version {
  std::string name;
  bool says_asked_model = false;  // The rows name the model that was asked for.
};
void PrintTo(const Version& version, std::ostream* out) { *out << version.name; }

class RealRows : public ::testing::TestWithParam<Version> {
 protected:
  void SetUp() override {
    const std::string folder = std::string(OUTCOMED_DATA) + "/litellm/" + GetParam().name;
    if (!std::filesystem::exists(folder)) {
      GTEST_SKIP() << "the recordings of real gateways are not here: " << folder;
    }
    rows_ = testing::read_spend_rows(folder + "/spendlogs.jsonl.gz");
    requests_ = testing::read_client_requests(folder + "/requests.jsonl.gz");
    ASSERT_GT(rows_.size(), 2'000U);
    for (auto& request : requests_) {
      // Unknown models share one name since about 1.99.
      if (request.model == "nosuch" && GetParam().says_asked_model) request.model = "unknown-model";
    }
  }

  std::vector<testing::SpendRowText> rows_;
  std::vector<testing::ClientRequest> requests_;
};

TEST_P(RealRows, AreWhatTheClientsGot) {
  Ledger ledger({"requests"});
  for (const auto& row : rows_) ledger.add(row);
  Truth expected = testing::truth_between(requests_, 0, 1e12);
  if (!GetParam().says_asked_model) {
    // 41 requests for flaky that gpt-4o served are booked on gpt-4o, and no column says so.
    expected.n["flaky"] -= 41;
    expected.n["gpt-4o"] += 41;
    EXPECT_EQ(ledger.counter().facts().size(), 1U);
  } else {
    EXPECT_TRUE(ledger.counter().facts().empty());
  }
  EXPECT_EQ(ledger.truth(), expected);
}

TEST_P(RealRows, SayWhatWasAbsorbed) {
  Ledger ledger({"fallbacks", "absorption"});
  for (const auto& row : rows_) ledger.add(row);
  const bool says = GetParam().says_asked_model;
  EXPECT_EQ(ledger.sum(0, {{"model", "flaky"}, {"fallback_model", "gpt-4o"}}).second,
            says ? 41 : 0);
  EXPECT_EQ(ledger.sum(0, {}).second, says ? 41 : 0);
  // Served: 41 after a fallback, 7 after a retry.
  const auto provider = ledger.sum(1, {{"side", "provider"}}).second;
  const auto passed_on = ledger.sum(1, {{"side", "passed_on"}}).second;
  EXPECT_EQ(passed_on, says ? 12 : 19);
  EXPECT_EQ(ledger.sum(1, {{"side", "refused"}}).second, says ? 192 : 187);
  if (!says) {
    EXPECT_EQ(provider, passed_on);
  } else {
    // 5 refused after one failed attempt, 4 after two, one timeout after two others.
    EXPECT_EQ(provider, passed_on + 41 + 7 + 5 + 2 * 4 + 2);
  }
}

TEST_P(RealRows, CostWhatTheGatewayBooked) {
  Ledger ledger({"spend"});
  double booked = 0;
  for (const auto& row : rows_) {
    booked += std::stod(row.at("spend"));
    ledger.add(row);
  }
  EXPECT_NEAR(static_cast<double>(ledger.sum(0, {{"kind", "recorded_cost"}}).first), booked * 1e9,
              0.5 * static_cast<double>(rows_.size()));
}

INSTANTIATE_TEST_SUITE_P(Gateways, RealRows,
                         ::testing::Values(Version{"1.81.9"}, Version{"1.106.12", true}),
                         [](const auto& instance) {
                           std::string name = instance.param.name;
                           std::ranges::replace(name, '.', '_');
                           return "v" + name;
                         });

}  // namespace
}  // namespace outcomed
