// outcomed report prices over the rows that real gateways made, in a real database.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/daemon/sql/command_fixture.h"

namespace outcomed {
namespace {

using nlohmann::json;
using testing::Answer;
using ::testing::HasSubstr;

// The judge's provider takes 0.1 for cached input, which its owner's gateway doesn't know.
const char* const kPrices = R"(
presets:
  - litellm: {spend: ledger}
prices:
  - provider: openai
    currency: USD
    models:
      gpt-4o: {aliases: ["gpt-4o-2024-*"], flat: {input: 2.50, cached_input: 1.25, output: 10}}
      gpt-4o-mini: {flat: {input: 0.15, cached_input: 0.075, output: 0.60}}
      judge-1: {flat: {input: 1, cached_input: 0.1, output: 2}}
  - provider: deepseek
    currency: USD
    models:
      deepseek-chat: {flat: {input: 0.28, cached_input: 0.028, output: 0.42}}
  - provider: hosted_vllm
    currency: USD
    models:
      qwen3-32b: {flat: {input: 0, output: 0}}
)";

class ReportPricesOfADatabase : public testing::SqlCommandTest {
 protected:
  void SetUp() override {
    SqlTest::SetUp();
    if (IsSkipped()) return;
    write_config("sources:\n  ledger: " + source() + kPrices);
    make_table();
  }
  Answer report(const std::string& from, const std::string& to, const std::string& format) {
    return run(
        {"report", "prices", "--config", config(), "--from", from, "--to", to, "--format", format});
  }
};

class ReportPrices : public ReportPricesOfADatabase,
                     public ::testing::WithParamInterface<std::string> {};

TEST_P(ReportPrices, FindsWhatTheVersionBooksWrong) {
  const std::string folder = std::string(OUTCOMED_DATA) + "/litellm/" + GetParam();
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not here: data absent";
  const auto rows = testing::read_spend_rows(folder + "/spendlogs.jsonl.gz");
  ASSERT_TRUE(testing::load_spend_rows(server(), database_, rows)) << server().log_text();
  const auto end = [&](const char* which) {
    return ask(
        fmt::format("select to_char({}(\"endTime\"), 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') from "
                    "\"LiteLLM_SpendLogs\"",
                    which));
  };
  const Answer answer = report(end("min"), end("max"), "json");
  ASSERT_EQ(answer.status, ExitStatus::found) << answer.err;
  const json report = json::parse(answer.out);
  EXPECT_EQ(std::to_string(report["total"]["requests"].get<int>()),
            ask("select count(*) from \"LiteLLM_SpendLogs\" where request_id not like "
                "'%-attempt-%'"));
  EXPECT_EQ(report["total"]["rows_unpriced"], 0);
  const double booked = std::stod(ask("select sum(spend) from \"LiteLLM_SpendLogs\""));
  EXPECT_NEAR(
      report["total"]["recorded"].get<double>() + report["total"]["without_price"].get<double>(),
      booked, 1e-9 * static_cast<double>(rows.size()));
  const bool old = GetParam() == "1.81.9";
  for (const json& model : report["models"]) {
    if (model["model"] != "judge") {
      EXPECT_EQ(model["rows_off"], 0) << model;
      EXPECT_EQ(model["recorded"], model["expected"]) << model;
      continue;
    }
    if (model["expected"] == 0) continue;  // The judge's failures, where their model is unknown.
    EXPECT_EQ(model["rows_off"], 249);
    EXPECT_EQ(model["booked_as"], json({{old ? "cached_free" : "cached_full", 249}}));
    EXPECT_NEAR(model["ratio"], old ? 74.0 / 75.6 : 90.0 / 75.6, 1e-9);
  }
  std::vector<std::string> findings;
  for (const json& one : report["findings"]) findings.push_back(one["finding"]);
  EXPECT_EQ(findings, old ? std::vector<std::string>({"ratio", "rows_off", "class_unbilled"})
                          : std::vector<std::string>({"ratio", "rows_off"}));
  EXPECT_TRUE(report["blends"].empty()) << "these prices know no hours";
}

INSTANTIATE_TEST_SUITE_P(Gateways, ReportPrices, ::testing::Values("1.81.9", "1.106.12"),
                         [](const auto& instance) {
                           std::string name = "v" + instance.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST_F(ReportPricesOfADatabase, IsEmptyWithoutRowsAndNeedsABegin) {
  const Answer empty = report("2026-11-30T00:00:00Z", "2026-11-30T01:00:00Z", "table");
  EXPECT_EQ(empty.status, ExitStatus::ok) << empty.err;
  EXPECT_THAT(empty.out, HasSubstr("No row was booked from 2026-11-30T00:00:00Z"));
  const Answer open = run({"report", "prices", "--config", config()});
  EXPECT_EQ(open.status, ExitStatus::usage);
  EXPECT_THAT(open.err, HasSubstr("--from is needed for live sources"));
  sql("drop table \"LiteLLM_SpendLogs\"");
  const Answer gone = report("2026-11-30T00:00:00Z", "2026-11-30T01:00:00Z", "table");
  EXPECT_EQ(gone.status, ExitStatus::unavailable);
  EXPECT_EQ(gone.out, "");
}

}  // namespace
}  // namespace outcomed
