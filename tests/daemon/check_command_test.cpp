// `outcomed check`: what it prints beside problems.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "detectors/catalog.h"
#include "tests/support/command_answer.h"

namespace outcomed {
namespace {

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

}  // namespace
}  // namespace outcomed
