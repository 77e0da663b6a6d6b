// Requests of private groups that left, as rows of the gateway's database tell.
#include "queries/litellm/row_leaks.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/queries/litellm/ledger_fixture.h"

namespace outcomed::litellm {
namespace {

using outcomed::testing::Ledger;
using outcomed::testing::SpendRowText;
using Pair = std::pair<std::int64_t, std::int64_t>;

const PrivateGroups kRules = {{"private/*"}, {{"corp.example"}}};

// "way: served_by"; empty where it stayed.
std::string way_out(const LedgerRow& row) {
  const auto leak = leak_of(row, kRules);
  return leak ? std::string(leak->way) + ": " + std::string(leak->served_by) : "";
}

LedgerRow in_the_house() {
  LedgerRow row;
  row.request_id = "chatcmpl-1";
  row.status = "success";
  row.model = "openai/qwen";
  row.provider = "openai";
  row.model_id = "qwen-1";
  row.model_group = "private/qwen";
  row.original_model_group = "private/qwen";
  row.api_base = "http://10.0.0.7:8000/v1";
  return row;
}

TEST(RowLeaks, AreRequestsThatAnotherGroupServed) {
  LedgerRow row = in_the_house();
  EXPECT_EQ(way_out(row), "");
  row.model_group = "gpt-4o";
  EXPECT_EQ(way_out(row), "fallback: gpt-4o") << "whatever its address";
  row.model_group = "private/llama";
  EXPECT_EQ(way_out(row), "");
}

TEST(RowLeaks, AreRequestsThatAForeignAddressServed) {
  LedgerRow row = in_the_house();
  row.api_base = "https://llm.corp.example/v1";
  EXPECT_EQ(way_out(row), "");
  for (const char* base : {"https://api.openai.com/v1", "https://10.0.0.7@example.com/", "none",
                           "https://corp.example.evil.com/v1", "no address"}) {
    row.api_base = base;
    EXPECT_EQ(way_out(row), "deployment: qwen") << base;
  }
}

TEST(RowLeaks, SayNothingWhereTheTableHasNoAddresses) {
  LedgerRow row = in_the_house();
  row.api_base = "";
  EXPECT_EQ(way_out(row), "");
}

TEST(RowLeaks, AreFailuresThatWereSentThere) {
  LedgerRow row = in_the_house();
  row.status = "failure";
  row.error_class = "InternalServerError";
  row.error_code = "500";
  row.error_provider = "openai";
  EXPECT_EQ(way_out(row), "");
  row.api_base = "https://api.openai.com/v1";
  EXPECT_EQ(way_out(row), "failed deployment: qwen");
  row.api_base = "none";
  EXPECT_EQ(way_out(row), "") << "1.81.9 names no address of any failure";
  row.model_group = "gpt-4o";
  EXPECT_EQ(way_out(row), "failed fallback: gpt-4o");
  row.request_id = "chatcmpl-1-attempt-0";
  EXPECT_EQ(way_out(row), "failed fallback: gpt-4o") << "an attempt was sent, too";
}

TEST(RowLeaks, AreNotRefusalsCacheHitsAndHealthChecks) {
  LedgerRow refused = in_the_house();
  refused.status = "failure";
  refused.error_class = "RouterRateLimitError";
  refused.model_group = "gpt-4o";
  EXPECT_EQ(way_out(refused), "") << "sent nowhere";
  refused.attempted_retries = "1";
  EXPECT_EQ(way_out(refused), "failed fallback: gpt-4o") << "its first attempt was sent";
  refused.error_class = "ProxyModelNotFoundError";
  refused.error_code = "400";
  refused.model_id = "";
  EXPECT_EQ(way_out(refused), "") << "nobody was asked";
  LedgerRow row = in_the_house();
  row.api_base = "none";
  row.cache_hit = "True";
  EXPECT_EQ(way_out(row), "");
  row.cache_hit = "False";
  row.team = "litellm-internal-health-check";
  EXPECT_EQ(way_out(row), "");
}

TEST(RowLeaks, OfGroupsThatAreNotPrivateAreNone) {
  LedgerRow row = in_the_house();
  row.original_model_group = row.model_group = "gpt-4o";
  row.api_base = "https://api.openai.com/v1";
  EXPECT_EQ(way_out(row), "");
}

TEST(RowLeaks, AreDescribedByWhatFindsThemAndNothingElse) {
  LedgerRow row = in_the_house();
  row.end = from_unix_ms(1'796'040'005'000);
  row.key_alias = "batch";
  row.api_base = "https://api.openai.com/v1?key=secret";
  EXPECT_EQ(describe_request(row),
            "chatcmpl-1, ended 2026-11-30T12:00:05Z, of batch, sent to api.openai.com");
  row.key_alias = "";
  row.api_base = "none";
  EXPECT_EQ(describe_request(row), "chatcmpl-1, ended 2026-11-30T12:00:05Z");
  const std::string hostile = "a\n\x1b[31m\xff" + std::string(100'000, 'x');
  row.request_id = hostile;
  const std::string text = describe_request(row);
  EXPECT_LT(text.size(), 200U);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

SpendRowText leaked(const std::string& id) {
  SpendRowText row = testing::served(id);
  row["metadata"] = R"({"original_model_group": "private/qwen", "user_api_key_alias": "batch"})";
  row["api_base"] = "https://api.openai.com/v1";
  return row;
}

TEST(RowLeaks, NameTheFirstRequestsOfEachWay) {
  Ledger ledger({"leaks"}, {.keep_private = kRules});
  for (int i = 0; i < 300; ++i) {
    ledger.add(leaked("a" + std::to_string(i)));
    ledger.add(leaked("a" + std::to_string(i)));  // As a statement that is asked again has it.
  }
  SpendRowText other = leaked("b");
  other["model_group"] = "claude";
  ledger.add(other);
  EXPECT_EQ(ledger.sum(0, {}), Pair(601, 601));
  const auto evidence = ledger.counter().take_evidence();
  ASSERT_EQ(evidence.size(), 6U);
  EXPECT_EQ(evidence[4].text.substr(0, 3), "a4,");
  EXPECT_EQ(evidence[5].labels,
            (Labels{{"model", "private/qwen"}, {"served_by", "claude"}, {"way", "fallback"}}));
  EXPECT_EQ(evidence[5].name, "request");
  EXPECT_TRUE(ledger.counter().take_evidence().empty());
}

TEST(RowLeaks, AskForAddressesOnlyWhereGroupsArePrivate) {
  Ledger requests({"requests", "leaks"});
  ASSERT_EQ(requests.plans().size(), 1U);
  for (const RowColumn& column : requests.counter().table().columns) {
    EXPECT_TRUE(column.name != "api_base" || column.expression == "null");
  }
}

TEST(RowLeaks, HaveANameOfTheirOwnBesideTheMetrics) {
  SpendSettings settings;
  settings.ledger.keep_private = kRules;
  for (const bool both : {false, true}) {
    settings.has_metrics = both;
    std::vector<std::string> names;
    for (const SignalPlan& plan : spend_signals(settings)) names.push_back(plan.name);
    EXPECT_EQ(std::ranges::count(names, "leaks"), both ? 0 : 1);
    EXPECT_EQ(std::ranges::count(names, "leaks_by_rows"), both ? 1 : 0);
  }
}

struct Version {
  std::string name;
  bool is_new = false;
};
void PrintTo(const Version& version, std::ostream* out) { *out << version.name; }

class RecordedLeaks : public ::testing::TestWithParam<Version> {
 protected:
  void SetUp() override {
    const std::string folder = std::string(OUTCOMED_DATA) + "/litellm/" + GetParam().name;
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "data absent: " << folder;
    rows_ = testing::read_spend_rows(folder + "/spendlogs.jsonl.gz");
  }
  std::vector<SpendRowText> rows_;
};

TEST_P(RecordedLeaks, AreNoneWhereEverythingStayedInTheHouse) {
  Ledger ledger({"leaks"}, {.keep_private = kRules});
  for (const auto& row : rows_) ledger.add(row);
  EXPECT_EQ(ledger.sum(0, {}), Pair(168, 0));
}

// Had flaky been private: gpt-4o served 41 of its requests.
TEST_P(RecordedLeaks, AreTheRequestsThatAFallbackServed) {
  Ledger ledger({"leaks"}, {.keep_private = {{"flaky"}, {}}});
  for (const auto& row : rows_) ledger.add(row);
  const Labels way{{"model", "flaky"}, {"served_by", "gpt-4o"}, {"way", "fallback"}};
  EXPECT_EQ(ledger.sum(0, {}).second, GetParam().is_new ? 41 : 0);
  EXPECT_EQ(ledger.sum(0, way).second, GetParam().is_new ? 41 : 0);
  EXPECT_EQ(ledger.counter().facts().empty(), GetParam().is_new) << "an old version can't tell";
}

// Had the private model been in a cloud: 168 requests were served, 10 more were sent and failed
// (one was refused after its first attempt), one of them with two earlier attempts; 18 were refused
// and sent nowhere.
TEST_P(RecordedLeaks, AreTheRequestsThatADeploymentOutsideGot) {
  Ledger ledger({"leaks"}, {.keep_private = kRules});
  for (auto row : rows_) {
    if (!row["api_base"].empty()) row["api_base"] = "https://api.cloud.example/v1";
    ledger.add(row);
  }
  EXPECT_EQ(ledger.sum(0, {{"way", "deployment"}, {"served_by", "qwen3-32b"}}).second, 168);
  EXPECT_EQ(ledger.sum(0, {{"way", "failed deployment"}}).second, GetParam().is_new ? 12 : 0);
  EXPECT_EQ(ledger.sum(0, {}).first, GetParam().is_new ? 180 : 168);
}

INSTANTIATE_TEST_SUITE_P(Gateways, RecordedLeaks,
                         ::testing::Values(Version{"1.81.9"}, Version{"1.106.12", true}),
                         [](const auto& instance) {
                           std::string name = "v" + instance.param.name;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace outcomed::litellm
