// Rows that real gateways made: what their versions book wrong, and what they don't.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "queries/prices/spend.h"
#include "tests/support/gzip_lines.h"

namespace outcomed {
namespace {

using Json = nlohmann::json;

Money usd(const char* text) { return *parse_money(text); }

PricedModel flat(std::string name, std::vector<std::string> aliases, TokenPrices prices) {
  PricedModel model;
  model.name = std::move(name);
  model.aliases = std::move(aliases);
  model.peak = model.off_peak = prices;
  return model;
}

// The judge has prices of the gateway's owner, 1 and 2; its provider takes 0.1 for cached input.
PriceTables published() {
  PriceTable openai;
  openai.provider = "openai";
  openai.currency = "USD";
  openai.models = {flat("gpt-4o", {"gpt-4o-2024-*"}, {usd("2.50"), usd("10"), usd("1.25"), {}, {}}),
                   flat("gpt-4o-mini", {}, {usd("0.15"), usd("0.60"), usd("0.075"), {}, {}}),
                   flat("judge-1", {}, {usd("1"), usd("2"), usd("0.1"), {}, {}})};
  PriceTable deepseek;
  deepseek.provider = "deepseek";
  deepseek.currency = "USD";
  deepseek.models = {flat("deepseek-chat", {}, {usd("0.28"), usd("0.42"), usd("0.028"), {}, {}})};
  PriceTable own;
  own.provider = "hosted_vllm";
  own.currency = "USD";
  own.models = {flat("qwen3-32b", {}, {})};
  return PriceTables({openai, deepseek, own});
}

std::int64_t number(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<std::int64_t>() : 0;
}

Json part(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_object() ? *found : Json::object();
}

struct LedgerRow {
  std::string model;
  std::string group;
  SpendRow row;  // Without the name.
};

LedgerRow read(const std::string& line) {
  const Json json = Json::parse(line);
  const Json usage = part(part(json, "metadata"), "usage_object");
  LedgerRow out{json.at("model"), json.at("model_group"), {}};
  out.row.tokens = {json.at("prompt_tokens"),
                    number(part(usage, "prompt_tokens_details"), "cached_tokens"),
                    number(usage, "cache_creation_input_tokens"), json.at("completion_tokens"),
                    number(part(usage, "completion_tokens_details"), "reasoning_tokens")};
  out.row.recorded = money_of(json.at("spend"));
  out.row.at = *parse_timestamp("2026-11-30T02:30:00Z");
  out.row.failed = json.at("status") == "failure";
  out.row.is_request =
      json.at("request_id").get<std::string>().find("-attempt-") == std::string::npos;
  out.row.has_details = !part(usage, "prompt_tokens_details").empty();
  return out;
}

// By gateway's name of the model.
const std::map<std::string, SpendAmounts>& amounts(const std::string& version) {
  static std::map<std::string, std::map<std::string, SpendAmounts>> known;
  const auto [found, fresh] = known.try_emplace(version);
  std::map<std::string, SpendAmounts>& sums = found->second;
  if (!fresh) return sums;
  const PriceTables tables = published();
  for (const std::string& line : testing::read_gzip_lines(std::string(OUTCOMED_DATA) + "/litellm/" +
                                                          version + "/spendlogs.jsonl.gz")) {
    LedgerRow read_row = read(line);
    read_row.row.provider_model = read_row.model;
    sums[read_row.group].add(read_row.row, price_row(tables, read_row.row));
  }
  return sums;
}

class RecordedRows : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(std::string(OUTCOMED_DATA) + "/litellm/1.81.9")) {
      GTEST_SKIP() << "the recordings of real gateways are not here: " << OUTCOMED_DATA;
    }
  }
};

TEST_F(RecordedRows, TheGatewaysOwnPricesAgreeToTheNanoUnit) {
  for (const char* version : {"1.81.9", "1.106.12"}) {
    const auto& sums = amounts(version);
    for (const char* group : {"gpt-4o", "capped", "flaky", "private/qwen"}) {
      const SpendAmounts& sum = sums.at(group);
      EXPECT_GT(sum.of(SpendKind::rows_priced), 60) << group;
      EXPECT_EQ(sum.of(SpendKind::rows_off), 0) << group;
      EXPECT_EQ(sum.of(SpendKind::rows_unpriced), 0) << group;
      EXPECT_EQ(sum.of(SpendKind::rows_unknown), 0) << group;
      EXPECT_EQ(sum.of(SpendKind::recorded_cost), sum.of(SpendKind::expected_cost)) << group;
    }
  }
}

TEST_F(RecordedRows, CachedTokensForNothingAreFound) {
  const SpendAmounts& judge = amounts("1.81.9").at("judge");
  EXPECT_EQ(judge.of(SpendKind::rows_off), 249);
  EXPECT_EQ(judge.of(SpendKind::booked_cached_free), 249);
  EXPECT_EQ(judge.of(SpendKind::recorded_cost), 249 * 74'000);
  EXPECT_EQ(judge.of(SpendKind::expected_cost), 249 * 75'600);
}

TEST_F(RecordedRows, CachedTokensAtFullPriceAreFound) {
  const SpendAmounts& judge = amounts("1.106.12").at("judge");
  EXPECT_EQ(judge.of(SpendKind::rows_off), 249);
  EXPECT_EQ(judge.of(SpendKind::booked_cached_full), 249);
  EXPECT_EQ(judge.of(SpendKind::recorded_cost), 249 * 90'000);
}

TEST_F(RecordedRows, FailuresWithEstimatedTokensAndNoCostAreFree) {
  const auto& sums = amounts("1.106.12");
  std::int64_t requests = 0;
  std::int64_t compared = 0;
  for (const auto& [group, sum] : sums) {
    requests += sum.of(SpendKind::requests);
    compared += sum.of(SpendKind::rows_priced) + sum.of(SpendKind::rows_off);
    EXPECT_EQ(sum.of(SpendKind::rows_unpriced), 0) << group;
  }
  // 38 of the judge's failures and 12 of the private model's carry 8 estimated tokens.
  EXPECT_EQ(requests, 2285);
  EXPECT_EQ(compared, 2034);
}

TEST_F(RecordedRows, StreamsWithEstimatedTokensLackDetails) {
  const auto& old = amounts("1.81.9");
  EXPECT_EQ(old.at("flaky").of(SpendKind::rows_bare), 155);
  EXPECT_EQ(old.at("private/qwen").of(SpendKind::rows_bare), 61);
  EXPECT_EQ(old.at("gpt-4o").of(SpendKind::rows_bare), 0);
  for (const auto& [group, sum] : amounts("1.106.12")) {
    EXPECT_EQ(sum.of(SpendKind::rows_bare), 0) << group;
  }
}

}  // namespace
}  // namespace outcomed
