// The whole command: arguments and a file in, texts and an exit status out.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/command_answer.h"
#include "tests/support/temp_folder.h"

namespace outcomed {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::Answer;
using ::testing::HasSubstr;
using ::testing::Not;

class RescoreCommand : public ::testing::Test {
 protected:
  Answer run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "rescore");
    return testing::run_command(arguments);
  }

  std::string file(const std::string& text, const std::string& name = "scores.csv") {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  // The command on a text, with the columns that it has in most tests.
  Answer report(const std::string& text, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"--csv", file(text), "--feed", "feed",        "--old",
                                          "old",   "--new",    "new",    "--threshold", "5"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  json report_json(const std::string& text, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--format", "json"});
    const Answer answer = report(text, more);
    EXPECT_EQ(answer.status, ExitStatus::ok) << answer.err;
    return json::parse(answer.out);
  }

  testing::TempFolder folder_;
};

const std::string kSmall =
    "feed,item,old,new\n"
    "de,1,5,6\n"
    "de,2,4,6\n"
    "de,3,3,2\n"
    "en,4,5,5\n"
    "en,5,1,4\n";

TEST_F(RescoreCommand, PrintsATableForEachQuestion) {
  const Answer answer = report(kSmall);
  EXPECT_EQ(answer.status, ExitStatus::ok);
  EXPECT_EQ(answer.err, "");
  EXPECT_THAT(answer.out,
              AllOf(HasSubstr("5 items in 2 feeds: old judge old, new judge new."),
                    HasSubstr("Agreement with the old judge's decisions (old at or above 5)"),
                    HasSubstr("too few"), HasSubstr("pooled"), Not(HasSubstr("ccuracy"))));
}

TEST_F(RescoreCommand, GivesProgramsTheDocumentedFields) {
  const json all = report_json(kSmall);
  ASSERT_EQ(all["feeds"].size(), 2U);
  const json& de = all["feeds"][0];
  EXPECT_EQ(de["feed"], "de");
  EXPECT_EQ(de["n"], 3);
  EXPECT_EQ(de["spearman"].size(), 3U);
  EXPECT_TRUE(de["spearman"][1].is_null());
  EXPECT_NEAR(de["mean_shift"][0], 2.0 / 3, 1e-12);
  EXPECT_NEAR(de["up"], 2.0 / 3, 1e-12);
  EXPECT_EQ(de["equal"], 0);
  EXPECT_NEAR(de["down"], 1.0 / 3, 1e-12);
  EXPECT_NEAR(de["share_old"], 1.0 / 3, 1e-12);
  EXPECT_NEAR(de["share_new"], 2.0 / 3, 1e-12);
  EXPECT_EQ(de["precision"][0], .5);
  EXPECT_EQ(de["recall"][0], 1);
  EXPECT_EQ(de["mcnemar_p"], 1);
  EXPECT_EQ(de["matched"]["verdict"], "impossible");
  EXPECT_EQ(de["matched"]["thresholds"][0]["threshold"], 6);
  EXPECT_TRUE(de["matched"]["thresholds"][1]["threshold"].is_null());
  EXPECT_EQ(all["pooled"]["n"], 5);
  EXPECT_EQ(all["rows"], 5);
}

TEST_F(RescoreCommand, AnswersForTheNewThreshold) {
  const json all = report_json(kSmall, {"--new-threshold", "6"});
  EXPECT_EQ(all["pooled"]["decisions"].size(), 2U);
  EXPECT_EQ(all["pooled"]["decisions"][0]["threshold"], 5);
  EXPECT_EQ(all["pooled"]["decisions"][1]["threshold"], 6);
  EXPECT_NEAR(all["pooled"]["share_new"], .4, 1e-12);
}

TEST_F(RescoreCommand, TellsAndCountsWhatItCannotUse) {
  const Answer answer = report(
      "feed,old,new\n"
      "a,5,6\n"
      "a,,6\n"
      "a,5,NaN\n"
      "a,5,n/a\n"
      "a,seven,6\n"
      "a,inf,6\n"
      "a,5\n"
      "a,5,6,7\n"
      "a,\"4,5\",6\n"
      "a, +4 ,4.5e0\n");
  EXPECT_EQ(answer.status, ExitStatus::ok);
  EXPECT_THAT(answer.out, HasSubstr("2 items in 1 feed"));
  EXPECT_EQ(answer.err,
            "note: 1 of 10 rows left out: old is missing (line 3)\n"
            "note: 2 of 10 rows left out: new is missing (lines 4, 5)\n"
            "note: 2 of 10 rows left out: old is no number (lines 6, 10)\n"
            "note: 1 of 10 rows left out: old is beyond 1e12 (line 7)\n"
            "note: 1 of 10 rows left out: fewer fields than the header (line 8)\n"
            "note: 1 of 10 rows left out: more fields than the header (line 9)\n");
  const json all = report_json("feed,old,new\na,5,6\na,,6\n");
  EXPECT_EQ(all["rows"], 2);
  EXPECT_EQ(all["skipped"][0]["count"], 1);
  EXPECT_EQ(all["skipped"][0]["lines"], json({3}));
}

TEST_F(RescoreCommand, ShowsOnlyTheFirstLinesOfMany) {
  std::string text = "feed,old,new\na,1,2\n";
  for (int i = 0; i < 30; ++i) text += "a,1,\n";
  EXPECT_THAT(
      report(text).err,
      HasSubstr("30 of 31 rows left out: new is missing (lines 3, 4, 5, 6, 7, 8, 9, 10, 11, "
                "12 and 20 more)"));
}

TEST_F(RescoreCommand, ReadsWhatSpreadsheetsWrite) {
  const Answer answer = report(
      "\xEF\xBB\xBF"
      "\"feed\",\"old\",\"new\"\r\n\"a, b\",\"5\",\"6\"\r\n\"say \"\"x\"\"\",4,3\r\n");
  EXPECT_EQ(answer.status, ExitStatus::ok);
  EXPECT_THAT(answer.out, AllOf(HasSubstr("a, b"), HasSubstr("say \"x\"")));
}

TEST_F(RescoreCommand, TellsOfItemsThatStandTwice) {
  const Answer answer = report("feed,id,old,new\na,1,5,6\na,1,5,6\nb,1,5,6\n", {"--item", "id"});
  EXPECT_EQ(answer.err,
            "note: 1 row repeats an item that stood before in its feed, first on line 3; all of "
            "them count\n");
}

TEST_F(RescoreCommand, TakesAllRowsForOneFeedWithoutAColumnOfFeeds) {
  const Answer answer = run({"--csv", file(kSmall), "--old", "old", "--new", "new", "-t", "5"});
  EXPECT_EQ(answer.status, ExitStatus::ok);
  EXPECT_THAT(answer.out, AllOf(HasSubstr("5 items in 1 feed:"), Not(HasSubstr("pooled"))));
}

TEST_F(RescoreCommand, SaysWhatIsWrongAndWhatToDo) {
  const auto expect = [&](const std::vector<std::string>& arguments, ExitStatus status,
                          const std::string& says) {
    const Answer answer = run(arguments);
    EXPECT_EQ(answer.status, status) << says;
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(answer.err, HasSubstr(says));
  };
  const std::string csv = file(kSmall);
  expect({}, ExitStatus::usage, "--csv is needed");
  expect({"--csv", csv, "--table", "scores"}, ExitStatus::usage,
         "give one of --csv, --sql and --table");
  expect({"--sql", ""}, ExitStatus::usage, "--sql is empty");
  expect({"--csv", csv, "--source", "ledger"}, ExitStatus::usage,
         "--source has no meaning with --csv");
  expect({"--csv", csv}, ExitStatus::usage, "--old is needed");
  expect({"--csv", csv, "--old", "old"}, ExitStatus::usage, "--new is needed");
  expect({"--csv", csv, "--old", "old", "--new", "new"}, ExitStatus::usage,
         "--threshold is needed");
  expect({"--csv", csv, "--old", "old", "--new", "new", "-t", "high"}, ExitStatus::usage,
         "--threshold: \"high\" is no number");
  expect({"--csv", csv, "--old", "old", "--new", "new", "-t", "5", "--new-threshold", "nan"},
         ExitStatus::usage, "--new-threshold: \"nan\" is no number");
  expect({"--csv", csv, "--old", "gone", "--new", "new", "-t", "5"}, ExitStatus::usage,
         "has no column \"gone\"; it has: feed, item, old, new");
  expect({"--csv", csv, "--old", "old", "--new", "new", "-t", "5", "--format", "xml"},
         ExitStatus::usage, "is none of table, json, markdown");
  expect({"--csv", folder_ / "absent.csv", "--old", "old", "--new", "new", "-t", "5"},
         ExitStatus::unavailable, "absent.csv: can't open: No such file");
  expect({"--csv", folder_.path().string(), "--old", "old", "--new", "new", "-t", "5"},
         ExitStatus::unavailable, "not a regular file");
  expect({"--csv", csv, "--old", "old", "--plan", "5"}, ExitStatus::usage, "--plan needs --item");
  expect({"--csv", csv, "--old", "old", "--item", "item", "--plan", "0"}, ExitStatus::usage,
         "--plan: \"0\" is no number of items");
  expect({"--csv", csv, "--old", "old", "--item", "item", "--plan", "5", "--svg", "x"},
         ExitStatus::usage, "--svg has no meaning with --plan");
}

TEST_F(RescoreCommand, RefusesAFileThatIsNoTableOfScores) {
  EXPECT_EQ(report("").status, ExitStatus::usage);
  EXPECT_THAT(report("").err, HasSubstr("empty; a header line is needed"));
  EXPECT_THAT(report("feed,old,new\n").err, HasSubstr("there is no item with both scores"));
  EXPECT_EQ(report("feed,old,new\na,x,y\n").status, ExitStatus::usage);
  EXPECT_THAT(report("feed,old,new\na,\"5,6\n").err, HasSubstr("scores.csv:2:3: the quote"));
  EXPECT_THAT(report("feed,old,old,new\n").err, HasSubstr("has 2 columns \"old\""));
}

TEST_F(RescoreCommand, WritesMarkdownThatNamesCannotBreakOutOf) {
  const Answer answer = report("feed,old,new\na|b<script>,5,6\n", {"--format", "markdown"});
  EXPECT_EQ(answer.status, ExitStatus::ok);
  EXPECT_THAT(answer.out, AllOf(HasSubstr("| a\\|b\\<script\\> |"), HasSubstr("|---|---:|")));
}

TEST_F(RescoreCommand, SurvivesNamesThatAreNoUtf8) {
  const json all = report_json("feed,old,new\n\xff\xfe,5,6\n");
  EXPECT_EQ(all["feeds"][0]["feed"], "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_F(RescoreCommand, DrawsAPictureForEachFeedInsideTheFolder) {
  const std::string pictures = folder_ / "pictures";
  const Answer answer =
      report("feed,old,new\n../../a,5,6\n<b>&,1,2\n<b>&,3,2\n", {"--svg", pictures});
  EXPECT_EQ(answer.status, ExitStatus::ok) << answer.err;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(pictures)) {
    names.push_back(entry.path().filename());
    std::ifstream in(entry.path());
    const std::string svg((std::istreambuf_iterator<char>(in)), {});
    EXPECT_THAT(svg, AllOf(HasSubstr("<svg xmlns"), HasSubstr("</svg>"), Not(HasSubstr("<b>")),
                           Not(HasSubstr("nan")), Not(HasSubstr("inf")),
                           HasSubstr("old passes from 5"), HasSubstr("new score: new")));
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("feed.._.._a.svg", "_b__.svg"));
}

TEST_F(RescoreCommand, SaysThatAPictureCannotBeWritten) {
  const Answer answer = report(kSmall, {"--svg", file("", "taken")});
  EXPECT_EQ(answer.status, ExitStatus::io);
  EXPECT_THAT(answer.err, HasSubstr("--svg: can't write"));
}

TEST_F(RescoreCommand, DrawsScoresFarFromZeroThatHardlyDiffer) {
  const Answer answer = report("feed,old,new\na,999999999999.9999,999999999999.9998\na,1e12,1e12\n",
                               {"--svg", folder_ / "pictures"});
  EXPECT_EQ(answer.status, ExitStatus::ok);
}

TEST_F(RescoreCommand, DrawsFineScalesOnAGrid) {
  std::string text = "feed,old,new\n";
  for (int i = 0; i < 5000; ++i)
    text += fmt::format("a,{},{}\n", i * .001, (i * 7919 % 5000) * .001);
  const std::string pictures = folder_ / "pictures";
  EXPECT_EQ(report(text, {"--svg", pictures}).status, ExitStatus::ok);
  EXPECT_LT(std::filesystem::file_size(pictures + "/a.svg"), 600'000U);
}

TEST_F(RescoreCommand, PlansWhichItemsToScoreAndTakesTheirWeightsBack) {
  std::string text = "feed,item,old\n";
  for (int i = 0; i < 300; ++i) text += fmt::format("a,i{},{}\n", i, i < 10 ? 1 : i < 60 ? 2 : 3);
  text += "a,i0,3\na,,3\n";
  const Answer plan = run(
      {"--csv", file(text), "--feed", "feed", "--item", "item", "--old", "old", "--plan", "90"});
  EXPECT_EQ(plan.status, ExitStatus::ok);
  EXPECT_EQ(plan.err,
            "note: 1 of 302 rows left out: item stood before in its feed (line 302)\n"
            "note: 1 of 302 rows left out: item is missing (line 303)\n"
            "note: items by old score: 1: 10 of 10, 2: 40 of 50, 3: 40 of 240\n");
  std::istringstream lines(plan.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "feed,item,old,bin,weight");
  // As a person would: a column of new scores beside it.
  std::string scored = "feed,item,old,bin,weight,new\n";
  int count = 0;
  while (std::getline(lines, line)) scored += line + fmt::format(",{}\n", 2 + count++ % 3);
  EXPECT_EQ(count, 90);
  const Answer answer =
      run({"--csv", file(scored, "plan.csv"), "--feed", "feed", "--old", "old", "--new", "new",
           "--threshold", "3", "--weight", "weight", "--format", "json"});
  ASSERT_EQ(answer.status, ExitStatus::ok) << answer.err;
  const json pooled = json::parse(answer.out)["pooled"];
  EXPECT_NEAR(pooled["share_old"], 240.0 / 300, 1e-9);  // The stream's, not the sample's 40 of 90.
  EXPECT_EQ(pooled["n"], 90);
  EXPECT_LT(pooled["effective_n"], 70);
}

TEST_F(RescoreCommand, PlanSaysWhatItCannotSpeakFor) {
  const Answer plan =
      run({"--csv", file("id,s\na,1\nb,2\nc,2\n"), "--item", "id", "--old", "s", "--plan", "1"});
  EXPECT_THAT(plan.err, HasSubstr("feed all, old score 1: none of 1 items; the plan can't speak "
                                  "for them, a larger --plan can"));
}

TEST_F(RescoreCommand, LeavesOutWeightsThatAreNone) {
  const Answer answer =
      report("feed,old,new,w\na,5,6,1\na,5,6,0\na,5,6,-1\na,5,6,\n", {"--weight", "w"});
  EXPECT_THAT(answer.err, AllOf(HasSubstr("2 of 4 rows left out: w is not above 0 (lines 3, 4)"),
                                HasSubstr("1 of 4 rows left out: w is missing (line 5)")));
}

TEST_F(RescoreCommand, ReproducesTheRealJudgePairs) {
  const auto csv = std::filesystem::path(OUTCOMED_DATA) / "gemba_paired_668.csv";
  if (!std::filesystem::exists(csv)) {
    GTEST_SKIP() << csv << " is not here: set OUTCOMED_DATA to the folder that holds it";
  }
  const Answer answer = run({"--csv", csv.string(), "--feed", "feed", "--old", "turbo", "--new",
                             "gpt4", "--threshold", "95", "--format", "json"});
  ASSERT_EQ(answer.status, ExitStatus::ok) << answer.err;
  const json all = json::parse(answer.out);
  const double spearman[] = {0.5785703869, 0.6335348760, 0.7035911208};
  ASSERT_EQ(all["feeds"].size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(all["feeds"][i]["spearman"][0], spearman[i], 1e-9);
    EXPECT_EQ(all["feeds"][i]["matched"]["verdict"], "bracketed");
  }
  const json& pooled = all["pooled"];
  EXPECT_EQ(pooled["n"], 668);
  EXPECT_NEAR(pooled["spearman"][0], 0.65007, 5e-6);
  EXPECT_NEAR(pooled["spearman"][1], .59555, 5e-6);
  EXPECT_NEAR(pooled["spearman"][2], .69863, 5e-6);
  EXPECT_NEAR(pooled["mean_shift"][0], 3.8832, 5e-5);
  EXPECT_NEAR(pooled["share_old"], 0.11826347305389222, 1e-9);
  EXPECT_NEAR(pooled["share_new"], 0.6092814371257484, 1e-9);
  EXPECT_NEAR(pooled["precision"][0], 0.18427518427518427, 1e-9);
  EXPECT_NEAR(pooled["recall"][0], 0.9493670886075949, 1e-9);
  EXPECT_NEAR(pooled["auc"], 0.7787174141969869, 1e-9);
  EXPECT_EQ(pooled["decisions"][0]["tp"], 75);
  EXPECT_EQ(pooled["decisions"][0]["fp"], 332);
  EXPECT_EQ(pooled["decisions"][0]["fn"], 4);
  EXPECT_EQ(pooled["decisions"][0]["tn"], 257);
  EXPECT_NEAR(pooled["matched"]["thresholds"][1]["share"], 0.03592814371257485, 1e-9);
  EXPECT_NEAR(pooled["matched"]["tie_fraction"], 0.14360313315926895, 1e-9);
}

}  // namespace
}  // namespace outcomed
