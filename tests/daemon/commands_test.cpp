// Commands on a small recording: what they refuse, what they count, what they print.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/command_answer.h"
#include "tests/support/temp_folder.h"

namespace outcomed {
namespace {

using nlohmann::json;
using testing::Answer;
using ::testing::HasSubstr;
using ::testing::Not;

const Timestamp kStart = *parse_timestamp("2026-11-30T12:00:00Z");

// Forty minutes of 100 requests; the model fails on 30 of them from the twentieth minute on.
class Commands : public ::testing::Test {
 protected:
  Commands() {
    record("a.csv", "judge");
    write("c.yaml", config(""));
  }
  static std::string config(const std::string& more) {
    return "sources: {rec: {kind: recording, path: nowhere.csv}}\n"
           "signals: {outcomes: {source: rec, labels: [model]}}\n"
           "rules:\n"
           "- {name: m, kind: share, signal: outcomes, by: [model], above: 5%, window: 5m}\n"
           "http: {listen: \"127.0.0.1:1\"}\n" +
           more;
  }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  void record(const std::string& name, const std::string& model) {
    std::string text = "signal,start,seconds,n,k,model\n";
    for (int minute = 0; minute < 40; ++minute) {
      text += "outcomes," + std::to_string(unix_ms(kStart) / 1000 + minute * 60) + ",60,100," +
              (minute < 20 ? "0" : "30") + "," + model + "\n";
    }
    write(name, text);
  }
  Answer run(std::vector<std::string> words, const std::string& recording = "a.csv") {
    words.insert(words.end(), {"--config", folder_ / "c.yaml"});
    if (!recording.empty()) words.insert(words.end(), {"--recording", folder_ / recording});
    return testing::run_command(words, kStart + 40min);
  }

  testing::TempFolder folder_;
};

TEST_F(Commands, RefuseAFormatThatTheyDoNotHaveBeforeAnyWork) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"check"},
           {"backtest"},
           {"signals", "--signal", "outcomes"},
           {"explain", "m"},
           {"history", "list"},
           {"history", "show", "x"},
           {"rules", "export"},
           {"report", "absorption"},
           {"report", "prices"},
           {"verify", "--since", "now-1d"},
           {"rescore", "--csv", "x", "--old", "a", "--new", "b", "-t", "5"},
           {"gateway", "check", "x"}}) {
    std::vector<std::string> asked = words;
    asked.insert(asked.end(), {"--format", "xml"});
    const Answer answer = testing::run_command(asked);
    EXPECT_EQ(answer.status, ExitStatus::usage) << words[0];
    EXPECT_EQ(answer.out, "") << words[0];
    EXPECT_THAT(answer.err, HasSubstr("--format: \"xml\" is none of ")) << words[0];
  }
}

TEST_F(Commands, RefuseTimesThatAreNoneOrGoBackwards) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"backtest"}, {"signals", "--signal", "outcomes"}, {"history", "list"}}) {
    const bool recorded = words[0] != "history";
    for (const char* wrong : {"yesterday", "now-2x", "2026-02-30T00:00:00Z"}) {
      std::vector<std::string> asked = words;
      asked.insert(asked.end(), {"--from", wrong});
      EXPECT_EQ(run(asked, recorded ? "a.csv" : "").status, ExitStatus::usage)
          << words[0] << " " << wrong;
    }
    std::vector<std::string> asked = words;
    asked.insert(asked.end(), {"--from", "now-1h", "--to", "now-2h"});
    const Answer backwards = run(asked, recorded ? "a.csv" : "");
    EXPECT_EQ(backwards.status, ExitStatus::usage) << words[0];
    EXPECT_THAT(backwards.err, HasSubstr("is not before")) << words[0];
  }
}

TEST_F(Commands, ASpanOfTenYearsIsAMistakeUnlessTheRecordingEndsIt) {
  const Answer clipped = run({"backtest", "--to", "9999-12-31T00:00:00Z", "--format", "json"});
  ASSERT_EQ(clipped.status, ExitStatus::ok) << clipped.err;
  EXPECT_EQ(json::parse(clipped.out)["to"], "2026-11-30T12:40:00Z");
  const Answer nothing = run({"backtest", "--from", "2027-01-01T00:00:00Z"});
  EXPECT_THAT(nothing.err, HasSubstr("the recording goes from 2026-11-30T12:00:00Z to "
                                     "2026-11-30T12:40:00Z"));
  const Answer live = run({"signals", "--signal", "outcomes", "--from", "0"});
  EXPECT_EQ(live.status, ExitStatus::usage);
  EXPECT_THAT(live.err, HasSubstr("more than ten years apart"));
}

TEST_F(Commands, ARecordingThatIsNotThereIsASourceThatCannotBeReachedWhoeverNamesIt) {
  write("damaged.csv", "signal,start,seconds,n,k,model\noutcomes,yesterday,60,1,0,judge\n");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"backtest"}, {"signals", "--signal", "outcomes"}, {"explain", "m"}}) {
    for (const char* recording : {"", "absent.csv", "damaged.csv"}) {  // "": of the configuration.
      if (words[0] == "explain" && *recording != '\0') continue;
      const Answer answer = run(words, recording);
      EXPECT_EQ(answer.status, ExitStatus::unavailable) << words[0] << recording << answer.err;
      EXPECT_EQ(answer.out.find("judge"), std::string::npos);
      EXPECT_NE(answer.err, "");
    }
  }
}

TEST_F(Commands, BacktestCountsTheBucketsThatWereAskedFor) {
  const Answer whole = run({"backtest", "--format", "json"});
  EXPECT_EQ(json::parse(whole.out)["buckets"], 40);
  const Answer part = run({"backtest", "--from", "2026-11-30T12:30:00Z", "--format", "json"});
  EXPECT_EQ(json::parse(part.out)["buckets"], 10);
  EXPECT_EQ(json::parse(whole.out)["episodes"].size(), 1U);
}

TEST_F(Commands, LabelsOfUsersDoNotDriveTheTerminal) {
  record("esc.csv", "\"judge\x1b[31m\"");
  for (const char* format : {"table", "json", "csv"}) {
    const Answer answer = run({"backtest", "--format", format}, "esc.csv");
    EXPECT_EQ(answer.status, ExitStatus::ok);
    if (std::string(format) == "table") {
      EXPECT_THAT(answer.out, Not(HasSubstr("\x1b")));
    }
    EXPECT_THAT(answer.out, HasSubstr("judge?[31m: ")) << format << ": in its sentence";
  }
}

TEST_F(Commands, SignalsPrintsAColumnOnce) {
  const Answer answer = run({"signals", "--signal", "outcomes", "--by", "model,model"});
  EXPECT_EQ(answer.out.substr(0, answer.out.find('\n')), "signal,start,seconds,n,k,model");
}

TEST_F(Commands, ExplainRefusesALabelThatTheGroupsOfTheRuleDoNotHave) {
  const Answer answer = run({"explain", "m", "modle=judge"}, "");
  EXPECT_EQ(answer.status, ExitStatus::usage);
  EXPECT_EQ(answer.err, "outcomed: groups of m have no label \"modle\"; they have: model\n");
}

TEST_F(Commands, ExplainSaysOfWhenItsNumbersAreAndNothingOfAShareOfNothing) {
  write("c.yaml", config("").replace(config("").find("nowhere.csv"), 11, folder_ / "a.csv"));
  const Answer now = run({"explain", "m"}, "");
  EXPECT_EQ(now.status, ExitStatus::ok) << now.err;
  EXPECT_THAT(now.out, HasSubstr("state of 2026-11-30T12:40:00Z (0s ago)\n"));
  const Answer unknown = run({"explain", "m", "model=nobody"}, "");
  EXPECT_EQ(unknown.out, "no group of this rule matches; without model=nobody all are shown\n");

  write("b.csv", "signal,start,seconds,n,k,model\noutcomes,1796040000,60,0,0,judge\n");
  write("c.yaml", config("").replace(config("").find("nowhere.csv"), 11, folder_ / "b.csv"));
  const Answer none = run({"explain", "m", "--format", "json"}, "");
  const json document = json::parse(none.out);
  EXPECT_FALSE(document["groups"].empty());
  for (const json& group : document["groups"]) {
    EXPECT_EQ(group["measured"], nullptr);
    for (const json& fact : group["facts"]) EXPECT_NE(fact["name"], "since") << fact;
  }
}

TEST_F(Commands, CheckFindsEverySettingOfASourceThatDoesNotSuitTheStepsOfItsSignals) {
  write("c.yaml",
        "sources:\n"
        "  g: {kind: exposition, url: \"http://127.0.0.1:1/metrics\", scrape_interval: 2m}\n"
        "  p: {kind: prometheus, url: \"http://127.0.0.1:1\"}\n"
        "signals:\n"
        "  a: {source: g, failures: f_total, requests: r_total, labels: [model]}\n"
        "  b: {source: p, failures: f_total, requests: r_total, labels: [model], step: 5s}\n"
        "rules: [{name: m, kind: share, signal: a, by: [model], above: 5%}]\n"
        "receivers: [{name: nobody}]\n");
  const Answer answer = run({"check"}, "");
  EXPECT_EQ(answer.status, ExitStatus::config);
  const std::string file = folder_ / "c.yaml";
  EXPECT_EQ(answer.err, file +
                            ":2:77: sources.g.scrape_interval: 2m is longer than the step 1m of "
                            "signal a; steps could not be told apart: scrape more often, or raise "
                            "the step\n" +
                            file +
                            ":3:3: sources.p.timeout: 10s is not shorter than the step 5s of "
                            "signal b; a slow answer would delay the next step: lower it, or raise "
                            "the step\n");
}

}  // namespace
}  // namespace outcomed
