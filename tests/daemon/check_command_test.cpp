// `outcomed check`: what it prints beside problems.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "detectors/catalog.h"
#include "tests/support/command_answer.h"
#include "tests/support/temp_folder.h"

namespace outcomed {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string printed(const std::string& flag) {
  const testing::Answer answer = testing::run_command({"check", flag});
  EXPECT_EQ(answer.status, ExitStatus::ok);
  EXPECT_EQ(answer.err, "");
  return answer.out;
}

TEST(CheckCommand, PrintsASchemaThatKnowsEveryKindOfRule) {
  const auto schema = nlohmann::json::parse(printed("--print-schema"));
  std::vector<std::string> kinds;
  for (const auto& rule : schema["properties"]["rules"]["items"]["oneOf"]) {
    kinds.push_back(rule["properties"]["kind"]["const"]);
  }
  std::vector<std::string> wanted;
  for (const DetectorEntry& entry : detector_catalog()) wanted.emplace_back(entry.kind);
  EXPECT_EQ(kinds, wanted);
}

TEST(CheckCommand, PrintsTheBuiltInRules) {
  EXPECT_NE(printed("--print-defaults").find("name: fast_failures"), std::string::npos);
}

TEST(CheckCommand, NotesFilesThatAreNamedAndNotThere) {
  const testing::TempFolder folder;
  const std::string config = folder / "outcomed.yaml";
  std::ofstream(folder / "ca.pem") << "authority";
  std::ofstream(config) << R"(
sources:
  gateway:
    kind: exposition
    url: http://127.0.0.1:4000/metrics
    bearer_token: file:token
    tls:
      ca_file: ca.pem
      cert_file: own.pem
      key_file: own.key
presets:
- litellm: {metrics: gateway}
store: {sqlite: not/made/yet.sqlite}
)";
  const auto answer = testing::run_command({"check", "--config", config});
  EXPECT_EQ(answer.status, ExitStatus::ok) << answer.err;
  for (const std::string named : {"bearer_token", "tls.cert_file", "tls.key_file"}) {
    EXPECT_THAT(answer.err, HasSubstr("sources.gateway." + named + ": ")) << named;
  }
  EXPECT_THAT(answer.err, HasSubstr("token\" can't be read by this user: No such file"));
  EXPECT_THAT(answer.err, Not(HasSubstr("ca.pem")));
  EXPECT_THAT(answer.err, Not(HasSubstr("yet.sqlite"))) << "the daemon makes it";
  const auto json = testing::run_command({"check", "--config", config, "--format", "json"});
  EXPECT_EQ(json.status, ExitStatus::ok);
  const auto said = nlohmann::json::parse(json.out);
  EXPECT_EQ(said["problems"].size(), 0U);
  EXPECT_EQ(said["notes"].size(), 4U) << "three files, and that nobody is told";
}

}  // namespace
}  // namespace outcomed
