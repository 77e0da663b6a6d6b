// `report absorption` and `verify` over a recording, as a user calls them.
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
using testing::TempFolder;

// Three hours: absorbed, then refused by the router, then well.
class AbsorptionCommands : public ::testing::Test {
 protected:
  AbsorptionCommands() {
    write("outcomed.yaml", "sources:\n  rec: {kind: recording, path: '" + (folder_ / "rec.csv") +
                               "'}\n"
                               "signals:\n"
                               "  absorption: {source: rec, labels: [model, side], step: 1h}\n"
                               "  plain: {source: rec, labels: [model]}\n");
    write("rec.csv",
          "signal,start,seconds,n,k,model,side\n"
          "absorption,2026-11-30T12:00:00Z,3600,100,0,judge,consumer\n"
          "absorption,2026-11-30T12:00:00Z,3600,140,40,judge,provider\n"
          "absorption,2026-11-30T13:00:00Z,3600,80,72,judge,consumer\n"
          "absorption,2026-11-30T13:00:00Z,3600,72,72,judge,refused\n"
          "absorption,2026-11-30T13:00:00Z,3600,8,0,judge,provider\n"
          "absorption,2026-11-30T14:00:00Z,3600,50,0,judge,consumer\n"
          "absorption,2026-11-30T14:00:00Z,3600,50,0,judge,provider\n"
          "absorption,2026-11-30T14:00:00Z,3600,50,0,gpt-4o,consumer\n");
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }

  Answer ask(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--config", folder_ / "outcomed.yaml"});
    return testing::run_command(arguments, from_unix_ms(1'796'060'000'000));
  }

  TempFolder folder_;
};

TEST_F(AbsorptionCommands, ReportSaysEachHourAndItsTotals) {
  const Answer answer = ask({"report", "absorption", "--format", "json"});
  EXPECT_EQ(answer.status, ExitStatus::found) << answer.err;
  const json report = json::parse(answer.out);
  ASSERT_EQ(report.at("hours").size(), 3U);
  EXPECT_EQ(report["hours"][0]["start"], "2026-11-30T12:00:00Z");
  EXPECT_EQ(report["hours"][0]["attempts"], 140);
  EXPECT_EQ(report["hours"][0]["provider_failures"], 40);
  EXPECT_EQ(report["hours"][0]["requests"], 100);
  EXPECT_EQ(report["hours"][0]["consumer_failures"], 0);
  EXPECT_EQ(report["hours"][0]["verdict"], "absorbed");
  EXPECT_EQ(report["hours"][1]["verdict"], "self_inflicted");
  EXPECT_EQ(report["hours"][2]["verdict"], "healthy");
  EXPECT_EQ(report["provider_failure_hours"], 1);
  EXPECT_EQ(report["absorbed_hours"], 1);
  EXPECT_EQ(report["leaking_hours"], 0);
  EXPECT_EQ(report["self_inflicted_hours"], 1);
  EXPECT_EQ(report["totals"]["hours"], 3);
  EXPECT_EQ(report["totals"]["requests"], 280);
  EXPECT_EQ(report["totals"]["failure_free_share_of_provider_failure_hours"], 1.0);
  EXPECT_THAT(report["provider_counts"].get<std::string>(), HasSubstr("lower bound"));
}

TEST_F(AbsorptionCommands, ReportTellsAPersonWhoseFailuresTheyAre) {
  const Answer answer = ask({"report", "absorption"});
  EXPECT_THAT(answer.out, HasSubstr("3 hours, 1 of 3 (33 %) with a failing provider"));
  EXPECT_THAT(answer.out, HasSubstr("judge: consumers fail (72 of 80 requests, 90 %) while the "
                                    "provider answers (0 of 8 attempts failed)"));
  EXPECT_THAT(answer.out, HasSubstr("72 refused by the gateway's router."));
}

TEST_F(AbsorptionCommands, ReportOfAnHourInWhichNothingFailedEndsWithZero) {
  const Answer answer =
      ask({"report", "absorption", "--from", "2026-11-30T14:00:00Z", "--format", "csv"});
  EXPECT_EQ(answer.status, ExitStatus::ok) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("\n2026-11-30T14:00:00Z,3600,0,50,0,100,0,0,0,0,healthy\n"));
}

TEST_F(AbsorptionCommands, ReportByModelHasATableForEach) {
  const json report =
      json::parse(ask({"report", "absorption", "--by-model", "--format", "json"}).out);
  ASSERT_EQ(report.at("models").size(), 2U);
  EXPECT_EQ(report["models"][0]["model"], "gpt-4o");
  EXPECT_EQ(report["models"][1]["hours"][1]["verdict"], "self_inflicted");
}

TEST_F(AbsorptionCommands, VerifyOfAFixWithoutAnyFailureSinceProvesNothing) {
  const Answer answer = ask({"verify", "--since", "2026-11-30T14:00:00Z", "--format", "json"});
  EXPECT_EQ(answer.status, ExitStatus::ok);
  const json verified = json::parse(answer.out);
  EXPECT_EQ(verified["verdict"], "unproved");
  EXPECT_EQ(verified["provider_failure_hours"], 0);
  EXPECT_EQ(verified["sentence"],
            "no provider failure since 2026-11-30T14:00:00Z yet: nothing is proved.");
}

TEST_F(AbsorptionCommands, VerifySaysThatAFixHolds) {
  const Answer answer =
      ask({"verify", "--since", "2026-11-30T12:00:00Z", "--to", "2026-11-30T13:00:00Z"});
  EXPECT_EQ(answer.status, ExitStatus::ok);
  EXPECT_THAT(
      answer.out,
      HasSubstr("1 hour with provider failures since 2026-11-30T12:00:00Z: 40 of 140 (29 %) "
                "attempts failed, and 0 of 100 (0 %) requests of the same models; in 1 of 1 "
                "(100 %) of them no consumer request failed: the fix holds so far."));
}

TEST_F(AbsorptionCommands, VerifyEndsWithOneWhereTheGatewayFailsItsConsumers) {
  const Answer answer = ask({"verify", "--since", "2026-11-30T13:00:00Z"});
  EXPECT_EQ(answer.status, ExitStatus::found);
  EXPECT_THAT(answer.out, HasSubstr("the fix does not hold"));
}

TEST_F(AbsorptionCommands, VerifySeesTheLeakOfOneModelBehindTheWorseTroubleOfAnother) {
  write("rec.csv",
        "signal,start,seconds,n,k,model,side\n"
        "absorption,2026-11-30T12:00:00Z,3600,100,90,caller,consumer\n"
        "absorption,2026-11-30T12:00:00Z,3600,100,0,caller,provider\n"
        "absorption,2026-11-30T12:00:00Z,3600,90,90,caller,rejected\n"
        "absorption,2026-11-30T12:00:00Z,3600,50,20,judge,consumer\n"
        "absorption,2026-11-30T12:00:00Z,3600,60,30,judge,provider\n"
        "absorption,2026-11-30T12:00:00Z,3600,40,0,writer,consumer\n"
        "absorption,2026-11-30T12:00:00Z,3600,60,20,writer,provider\n");
  const json report = json::parse(ask({"report", "absorption", "--format", "json"}).out);
  EXPECT_EQ(report["hours"][0]["verdict"], "rejected") << "of most failed requests";
  const Answer answer = ask({"verify", "--since", "2026-11-30T12:00:00Z", "--format", "json"});
  EXPECT_EQ(answer.status, ExitStatus::found);
  const json verified = json::parse(answer.out);
  EXPECT_EQ(verified["verdict"], "leaked");
  EXPECT_EQ(verified["leaking_hours"], 1);
  EXPECT_THAT(verified["sentence"].get<std::string>(),
              HasSubstr("leaking 1, self-inflicted 0: the fix does not hold"));
}

TEST_F(AbsorptionCommands, FailedAttemptsBelowTheLineAreNotCalledNone) {
  write("rec.csv",
        "signal,start,seconds,n,k,model,side\n"
        "absorption,2026-11-30T12:00:00Z,3600,1000,0,judge,consumer\n"
        "absorption,2026-11-30T12:00:00Z,3600,1050,50,judge,provider\n");
  const Answer answer = ask({"verify", "--since", "2026-11-30T12:00:00Z"});
  EXPECT_EQ(answer.status, ExitStatus::ok);
  EXPECT_THAT(answer.out,
              HasSubstr("0 hours with a failing provider since 2026-11-30T12:00:00Z (50 of 1050 "
                        "(4.8 %) attempts failed in all): nothing is proved."));
}

TEST_F(AbsorptionCommands, HoursThatTheRecordingDoesNotHoldAreNotWell) {
  const json report = json::parse(ask({"report", "absorption", "--from", "2026-11-30T10:00:00Z",
                                       "--to", "2026-11-30T12:30:00Z", "--format", "json"})
                                      .out);
  ASSERT_EQ(report["hours"].size(), 3U);
  EXPECT_EQ(report["hours"][0]["verdict"], "no_data");
  EXPECT_EQ(report["hours"][0]["unknown_seconds"], 3600);
  EXPECT_EQ(report["totals"]["unknown_hours"], 2);
}

TEST_F(AbsorptionCommands, WrongUseIsSaid) {
  EXPECT_EQ(ask({"report"}).status, ExitStatus::usage);
  EXPECT_EQ(ask({"report", "latency"}).status, ExitStatus::usage);
  EXPECT_EQ(ask({"verify"}).status, ExitStatus::usage);
  EXPECT_EQ(ask({"verify", "--since", "yesterday"}).status, ExitStatus::usage);
  EXPECT_EQ(ask({"report", "absorption", "--format", "xml"}).status, ExitStatus::usage);
  EXPECT_EQ(ask({"report", "absorption", "--step", "0s"}).status, ExitStatus::usage);
  const Answer side = ask({"report", "absorption", "--signal", "plain"});
  EXPECT_EQ(side.status, ExitStatus::usage);
  EXPECT_THAT(side.err, HasSubstr("has no label \"side\""));
  EXPECT_THAT(ask({"report", "absorption", "--model", "nobody"}).err, HasSubstr("gpt-4o judge"));
  EXPECT_THAT(ask({"report", "absorption", "--signal", "none"}).err, HasSubstr("preset"));
}

}  // namespace
}  // namespace outcomed
