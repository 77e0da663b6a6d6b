// `report prices` over a recording, as a user calls it.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/detectors/price/traffic.h"
#include "tests/support/command_answer.h"
#include "tests/support/temp_folder.h"

namespace outcomed {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::Answer;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TempFolder;

constexpr Duration kHour = std::chrono::hours(1);

const char* const kPrices = R"(
prices:
  - provider: deepseek
    currency: USD
    models:
      deepseek-chat:
        aliases: ["ds-*"]
        flat: {input: 0.14, cached_input: 0.014, output: 0.55}
        valid_to: 2026-01-31
  - provider: deepseek
    currency: USD
    source: "https://example.org/pricing"
    read_on: 2026-02-01
    calendar: {time_zone: UTC, peak: ["00:30-16:30"]}
    models:
      deepseek-chat:
        aliases: ["ds-*"]
        peak:     {input: 0.27,  cached_input: 0.07,  output: 1.10}
        off_peak: {input: 0.135, cached_input: 0.035, output: 0.55}
        valid_from: 2026-02-01
)";

// 28 days from 2 March on, booked at the tariff that ended in January.
class PriceReportCommand : public ::testing::Test {
 protected:
  PriceReportCommand() {
    config("[model, provider_model, kind]");
    std::ofstream csv(folder_ / "rec.csv");
    csv << "signal,start,seconds,n,k,model,provider_model,kind\n";
    RowPricer pricer(testing::published());
    for (int day = 0; day < 28; ++day) {
      const Timestamp start = *parse_timestamp("2026-03-02T00:00:00Z") + day * 24 * kHour;
      SpendAmounts amounts;
      for (int hour = 0; hour < 24; ++hour) {
        const SpendAmounts more = testing::hour_of(pricer, start + hour * kHour,
                                                   testing::booked_at(testing::old_tariff()));
        for (std::size_t i = 0; i < kSpendKinds; ++i) amounts.values[i] += more.values[i];
      }
      for (std::size_t i = 0; i < kSpendKinds; ++i) {
        if (amounts.values[i] == 0) continue;
        csv << fmt::format("spend,{},86400,{},0,chat,deepseek/deepseek-chat,{}\n",
                           format_rfc3339(start), amounts.values[i],
                           to_string(static_cast<SpendKind>(i)));
      }
    }
  }

  void config(const std::string& labels, const std::string& more = kPrices) {
    std::ofstream(folder_ / "outcomed.yaml")
        << "sources:\n  rec: {kind: recording, path: '" << folder_ / "rec.csv"
        << "'}\n"
        << "signals:\n  spend: {source: rec, labels: " << labels << ", step: 1d}\n"
        << more;
  }

  Answer ask(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"report", "prices", "--config",
                                          folder_ / "outcomed.yaml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return testing::run_command(arguments, from_unix_ms(1'796'060'000'000));
  }

  TempFolder folder_;
};

TEST_F(PriceReportCommand, ReproducesThePublishedCase) {
  const Answer answer = ask({"--format", "json"});
  EXPECT_EQ(answer.status, ExitStatus::found) << answer.err;
  EXPECT_EQ(answer.err, "");
  const json report = json::parse(answer.out);
  EXPECT_EQ(report["from"], "2026-03-02T00:00:00Z");
  EXPECT_EQ(report["to"], "2026-03-30T00:00:00Z");
  EXPECT_EQ(report["currency"], "USD");
  EXPECT_NEAR(report["total"]["ratio"], 0.61, 0.001);
  ASSERT_EQ(report["models"].size(), 1U);
  const json& chat = report["models"][0];
  EXPECT_EQ(chat["model"], "chat");
  EXPECT_EQ(chat["provider_model"], "deepseek/deepseek-chat");
  EXPECT_EQ(chat["price"]["model"], "deepseek-chat");
  EXPECT_EQ(chat["price"]["read_on"], "2026-02-01");
  EXPECT_EQ(chat["requests"], 67'648);
  EXPECT_EQ(chat["rows_off"], 67'648);
  EXPECT_EQ(chat["booked_as"]["former"], 67'648);
  EXPECT_LT(chat["all_off_peak"], chat["expected"]);
  EXPECT_LT(chat["expected"], chat["all_peak"]);
  EXPECT_EQ(report["findings"][0]["finding"], "ratio");
  ASSERT_EQ(report["blends"].size(), 1U);
  const json& blend = report["blends"][0];
  EXPECT_EQ(blend["days"], 28);
  EXPECT_NEAR(blend["total"], chat["expected"], 0.005 * chat["expected"].get<double>());
  for (const auto& [name, low, high] :
       {std::tuple("input", .135, .27), std::tuple("cached_input", .035, .07),
        std::tuple("output", .55, 1.1)}) {
    EXPECT_GE(blend["prices"][name], low);
    EXPECT_LE(blend["prices"][name], high);
  }
  EXPECT_TRUE(blend["prices"]["reasoning"].is_null());
}

TEST_F(PriceReportCommand, SaysItInATableAndInMarkdown) {
  const Answer table = ask();
  EXPECT_EQ(table.status, ExitStatus::found);
  EXPECT_THAT(
      table.out,
      AllOf(HasSubstr("61 % of the expected cost was booked (13.50 of 22.13 USD) from "
                      "2026-03-02T00:00:00Z to 2026-03-30T00:00:00Z, 67 648 requests."),
            HasSubstr("Costs in USD"), HasSubstr("deepseek-chat of deepseek"),
            HasSubstr("One price for all hours"), HasSubstr("0.2155"), Not(HasSubstr("\ntotal "))));
  const Answer markdown = ask({"--format", "markdown"});
  EXPECT_THAT(markdown.out, AllOf(HasSubstr("### Findings"), HasSubstr("| 61 % |")));
}

TEST_F(PriceReportCommand, ReadsOnlyTheSpanAskedFor) {
  const Answer answer = ask({"--from", "2026-03-28T00:00:00Z", "--format", "json"});
  const json report = json::parse(answer.out);
  EXPECT_EQ(report["total"]["requests"], 2 * 2416);
  EXPECT_EQ(report["blends"][0]["days"], 2);
}

TEST_F(PriceReportCommand, AnEmptySpanIsSaidAndIsNoFinding) {
  const Answer answer = ask({"--from", "2026-05-01T00:00:00Z", "--to", "2026-05-03T00:00:00Z"});
  EXPECT_EQ(answer.status, ExitStatus::ok) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("No row was booked from 2026-05-01T00:00:00Z to "
                                    "2026-05-03T00:00:00Z: nothing to compare."));
  const json report = json::parse(
      ask({"--from", "2026-05-01T00:00:00Z", "--to", "2026-05-03T00:00:00Z", "--format", "json"})
          .out);
  EXPECT_TRUE(report["models"].empty() && report["findings"].empty() && report["blends"].empty());
  EXPECT_TRUE(report["total"]["ratio"].is_null());
}

TEST_F(PriceReportCommand, SaysThatThereAreNoPrices) {
  config("[model, provider_model, kind]", "");
  const Answer answer = ask();
  EXPECT_EQ(answer.status, ExitStatus::config);
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.err, HasSubstr("outcomed.yaml: prices: is missing, so nothing says what a "
                                    "request should cost; add what your provider publishes"));
}

// Of the one that compares with the tables, not of one that judges what a success costs.
TEST_F(PriceReportCommand, TakesTheLimitsOfThePriceRule) {
  config(
      "[model, provider_model, kind]",
      std::string(kPrices) +
          "rules:\n"
          "  - {name: cost, kind: price, signal: spend, by: [model], window: 1d, against_prices: "
          "false, dearer: 100%}\n"
          "  - {name: prices, kind: price, signal: spend, by: [model], window: 1d, tolerance: "
          "50%, min_rows: 100000}\n");
  const Answer answer = ask();
  EXPECT_EQ(answer.status, ExitStatus::ok) << answer.out;
  EXPECT_THAT(answer.out, HasSubstr("Nothing was found."));
}

TEST_F(PriceReportCommand, SaysWhatIsWrongAndWhatToDo) {
  const auto expect = [&](const std::vector<std::string>& arguments, const std::string& says) {
    const Answer answer = ask(arguments);
    EXPECT_EQ(answer.status, ExitStatus::usage) << says;
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(answer.err, HasSubstr(says));
  };
  expect({"--format", "csv"}, "--format: \"csv\" is none of table, json, markdown");
  expect({"--signal", "gone"}, "--signal: \"gone\" is no signal of this configuration");
  expect({"--model", "gone"},
         "--model: nothing was counted for \"gone\"; there are: chat (deepseek/deepseek-chat)");
  expect({"--from", "2026-03-05T00:00:00Z", "--to", "2026-03-05T00:00:00Z"},
         "there is nothing between --from and --to");
  expect({"--from", "yesterday"}, "--from: ");
  config("[model]");
  expect({}, "--signal: spend lacks the label `kind`");
}

}  // namespace
}  // namespace outcomed
