// `outcomed gateway check`: arguments and files in, texts and an exit status out.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/command_answer.h"
#include "tests/support/temp_folder.h"

namespace outcomed {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kGood =
    "router_settings: {retry_after: 1, num_retries: 2}\n"
    "model_list: [{model_name: a, litellm_params: {model: openai/a}}]\n";
const std::string kBad = kGood + "general_settings: {background_health_checks: true}\n";

class GatewayCommand : public ::testing::Test {
 protected:
  ExitStatus run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "gateway");
    testing::Answer answer = testing::run_command(arguments);
    out_ = std::move(answer.out);
    err_ = std::move(answer.err);
    return answer.status;
  }

  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  testing::TempFolder folder_;
  std::string out_;
  std::string err_;
};

TEST_F(GatewayCommand, AGoodConfigurationEndsWithZeroEvenWithNotes) {
  EXPECT_EQ(run({"check", file("g.yaml", kGood)}), ExitStatus::ok);
  EXPECT_THAT(out_, HasSubstr("g.yaml: 0 errors, 0 warnings, 1 note\n"));
  EXPECT_THAT(err_, IsEmpty());
}

TEST_F(GatewayCommand, FindingsEndWithOneInEveryFormat) {
  const std::string bad = file("g.yaml", kBad);
  for (const std::string format : {"table", "json", "sarif", "junit"}) {
    EXPECT_EQ(run({"check", bad, "--format", format}), ExitStatus::found) << format;
    EXPECT_THAT(out_, HasSubstr("health-check-billed")) << format;
    EXPECT_THAT(err_, IsEmpty()) << format;
  }
}

TEST_F(GatewayCommand, SeveralFilesMakeOneReport) {
  EXPECT_EQ(run({"check", file("a.yaml", kGood), file("b.yaml", kBad), "--format", "json"}),
            ExitStatus::found);
  const auto report = nlohmann::json::parse(out_);
  EXPECT_EQ(report["files"].size(), 2U);
  EXPECT_EQ(report["errors"], 1);
}

TEST_F(GatewayCommand, AFileThatCantBeJudgedEndsWith78AndNoReport) {
  EXPECT_EQ(run({"check", file("g.yaml", "model_list: [\n"), "--format", "sarif"}),
            ExitStatus::config);
  EXPECT_THAT(err_, HasSubstr("g.yaml:"));
  EXPECT_THAT(out_, IsEmpty());
  EXPECT_EQ(run({"check", folder_ / "none.yaml"}), ExitStatus::config);
}

TEST_F(GatewayCommand, AWrongPolicyEndsWith78) {
  const std::string good = file("g.yaml", kGood);
  EXPECT_EQ(run({"check", good, "--policy", file("p.yaml", "cooldwn: {}\n")}), ExitStatus::config);
  EXPECT_THAT(err_, AllOf(HasSubstr("p.yaml:1:1: cooldwn"), HasSubstr("did you mean cooldown?")));
  EXPECT_EQ(run({"check", good, "--policy", folder_ / "none.yaml"}), ExitStatus::config);
}

TEST_F(GatewayCommand, TheDefaultsArePrintedAndServeAsAPolicy) {
  EXPECT_EQ(run({"check", "--print-defaults"}), ExitStatus::ok);
  const std::string policy = file("p.yaml", out_);
  EXPECT_EQ(run({"check", file("g.yaml", kBad), "--policy", policy}), ExitStatus::found);
}

TEST_F(GatewayCommand, WrongUsageEndsWithTwo) {
  EXPECT_EQ(run({}), ExitStatus::usage);
  EXPECT_EQ(run({"chekc", "x"}), ExitStatus::usage);
  EXPECT_EQ(run({"check"}), ExitStatus::usage);
  EXPECT_EQ(run({"check", file("g.yaml", kGood), "--format", "xml"}), ExitStatus::usage);
  EXPECT_EQ(run({"check", "--polcy", "x"}), ExitStatus::usage);
  EXPECT_EQ(run({"--help"}), ExitStatus::ok);
  EXPECT_THAT(out_, HasSubstr("Example:"));
}

}  // namespace
}  // namespace outcomed
