// Money and tokens that bought nothing: what failed, attempts, answers that were cut off, reasoning
// that nobody wanted.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/queries/litellm/ledger_fixture.h"

namespace outcomed {
namespace {

using testing::Ledger;
using testing::served;
using Pair = std::pair<std::int64_t, std::int64_t>;

testing::SpendRowText failed(const std::string& id, const std::string& spend) {
  auto row = served(id);
  row["status"] = "failure";
  row["spend"] = spend;
  return row;
}

TEST(Waste, IsWhatFailedRequestsAndEarlierAttemptsCost) {
  Ledger ledger({"wasted_spend", "wasted_tokens"});
  ledger.add(served("good"));
  ledger.add(failed("bad", "0.0001"));
  ledger.add(failed("good-attempt-0", "0.0002"));
  EXPECT_EQ(ledger.sum(0, {}), Pair(600'000, 300'000));
  EXPECT_EQ(ledger.sum(0, {{"cause", "failed"}}).second, 100'000);
  EXPECT_EQ(ledger.sum(0, {{"cause", "attempt"}}).second, 200'000);
  EXPECT_EQ(ledger.sum(1, {}), Pair(210, 140));
  EXPECT_EQ(ledger.sum(1, {{"model", "gpt-4o"}, {"consumer", "batch"}}).first, 210);
}

TEST(Waste, IsNotTheEstimatedTokensOfWhatCostNothing) {
  Ledger ledger({"wasted_spend", "wasted_tokens"});
  ledger.add(served("good"));
  ledger.add(failed("bad", "0"));
  ledger.add(failed("worse", ""));
  EXPECT_EQ(ledger.sum(0, {}), Pair(300'000, 0));
  EXPECT_EQ(ledger.sum(1, {}), Pair(70, 0));
}

TEST(Waste, CountsTokensOfModelsThatCostNothing) {
  Ledger ledger({"wasted_tokens"}, {.finish_reasons = true});
  auto free = served("free");
  free["spend"] = "0";
  free["response"] = R"({"choices": [{"finish_reason": "length"}]})";
  ledger.add(free);
  auto cached = free;
  cached["request_id"] = "cached";
  cached["cache_hit"] = "True";
  ledger.add(cached);
  EXPECT_EQ(ledger.sum(0, {}), Pair(70, 70));
}

TEST(Waste, LeavesHealthChecksToTheirOwnSignals) {
  Ledger ledger({"wasted_spend"});
  auto probe = failed("p", "0.5");
  probe["team_id"] = "litellm-internal-health-check";
  ledger.add(probe);
  EXPECT_EQ(ledger.sum(0, {}), Pair(0, 0));
}

TEST(Waste, OfAnswersThatWereCutOffIsSeenOnlyWhereItIsAskedFor) {
  auto cut = served("cut");
  cut["response"] = R"({"choices": [{"finish_reason": "length"}]})";
  auto whole = served("whole");
  whole["response"] = R"({"choices": [{"finish_reason": "stop"}]})";
  Ledger asked({"wasted_spend"}, {.finish_reasons = true});
  Ledger silent({"wasted_spend"});
  for (Ledger* ledger : {&asked, &silent}) {
    ledger->add(cut);
    ledger->add(whole);
  }
  EXPECT_EQ(asked.sum(0, {}), Pair(600'000, 300'000));
  EXPECT_EQ(asked.sum(0, {{"cause", "truncated"}}).second, 300'000);
  EXPECT_EQ(silent.sum(0, {}), Pair(600'000, 0));
  EXPECT_NE(silent.plans()[0].outcome.find("cut off aren't looked for"), std::string::npos);
  EXPECT_EQ(asked.plans()[0].outcome.find("aren't"), std::string::npos);
}

// "response" holds what a model answered: only one word of it is ever asked for, and only on
// demand.
TEST(Waste, NeverAsksForAnswers) {
  for (const bool on : {false, true}) {
    const Ledger ledger({"requests", "wasted_spend", "spend"}, {.finish_reasons = on});
    for (const RowColumn& column : const_cast<Ledger&>(ledger).counter().table().columns) {
      EXPECT_NE(column.name, "messages");
      EXPECT_NE(column.name, "proxy_server_request");
      if (column.name != "response") continue;
      EXPECT_EQ(column.expression, on ? "response->'choices'->0->>'finish_reason'" : "null");
    }
  }
}

TEST(Waste, SaysThatNoAnswersAreKept) {
  Ledger ledger({"wasted_spend"}, {.finish_reasons = true});
  auto row = served();
  row["response"] = "{}";
  for (int i = 0; i < 99; ++i) ledger.add(row);
  EXPECT_TRUE(ledger.counter().take_problems().empty());
  for (int i = 0; i < 200; ++i) ledger.add(row);
  const auto problems = ledger.counter().take_problems();
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].what, "no_finish_reason");
  EXPECT_NE(problems[0].message.find("store_prompts_in_spend_logs"), std::string::npos);
}

TEST(UnwantedReasoning, IsThatOfConsumersOnTheList) {
  Ledger ledger({"reasoning", "unwanted_reasoning"}, {.no_reasoning = {"bat*"}});
  ledger.add(served());
  auto other = served("r2");
  other["metadata"] =
      R"({"usage_object": {"completion_tokens_details": {"reasoning_tokens": 20}}})";
  ledger.add(other);  // Its consumer is the key.
  EXPECT_EQ(ledger.sum(0, {}), Pair(40, 28));
  EXPECT_EQ(ledger.sum(1, {}), Pair(20, 8));
  EXPECT_EQ(ledger.sum(1, {{"consumer", "batch"}, {"model", "gpt-4o"}}), Pair(20, 8));
}

TEST(UnwantedReasoning, IsASignalOnlyWithAList) {
  const auto has = [](const litellm::LedgerSettings& settings) {
    return !Ledger({"unwanted_reasoning"}, settings).plans().empty();
  };
  EXPECT_FALSE(has({}));
  EXPECT_TRUE(has({.no_reasoning = {"*"}}));
}

TEST(SpendAmounts, CountSuccessesOfConsumers) {
  Ledger ledger({"spend"});
  ledger.add(served());
  ledger.add(served("r1-attempt-0"));
  ledger.add(failed("r2", "0.0001"));
  auto probe = served("p");
  probe["team_id"] = "litellm-internal-health-check";
  ledger.add(probe);
  EXPECT_EQ(ledger.sum(0, {{"kind", "successes"}}).first, 1);
  EXPECT_EQ(ledger.sum(0, {{"kind", "requests"}}).first, 3);
  EXPECT_EQ(ledger.sum(0, {{"kind", "recorded_cost"}}).first, 1'000'000);
}

class RecordedWaste : public ::testing::TestWithParam<std::string> {};

// Both versions book failures for nothing, estimated tokens or not: no false alarm.
TEST_P(RecordedWaste, IsNoneThoughRequestsFailed) {
  const std::string folder = std::string(OUTCOMED_DATA) + "/litellm/" + GetParam();
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "data absent: " << folder;
  Ledger ledger({"wasted_spend", "wasted_tokens", "spend", "probe_spend"});
  for (const auto& row : testing::read_spend_rows(folder + "/spendlogs.jsonl.gz")) ledger.add(row);
  // In the preset's order.
  const Pair probes = ledger.sum(0, {});
  const Pair spend = ledger.sum(1, {});
  const Pair tokens = ledger.sum(2, {});
  EXPECT_EQ(probes.second, 0);
  EXPECT_EQ(probes.first, spend.first);
  EXPECT_GT(spend.first, 100'000'000);
  EXPECT_EQ(spend.second, 0);
  EXPECT_GT(tokens.first, 100'000);
  EXPECT_EQ(tokens.second, 0);
  EXPECT_EQ(ledger.sum(3, {{"kind", "successes"}}).first, GetParam() == "1.81.9" ? 2035 : 2034);
}

INSTANTIATE_TEST_SUITE_P(Gateways, RecordedWaste, ::testing::Values("1.81.9", "1.106.12"),
                         [](const auto& instance) {
                           std::string name = "v" + instance.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace outcomed
