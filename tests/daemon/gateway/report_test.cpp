#include "daemon/gateway/report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "daemon/gateway/rule_list.h"

namespace outcomed {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

GatewayReport sample() {
  GatewayReport report;
  report.files = {"./conf/a b.yaml"};
  report.version = "1.2.3";
  report.findings = {{"cooldown-too-long",
                      FindingLevel::error,
                      {"./conf/a b.yaml", {12, 18}, "router_settings.cooldown_time"},
                      "60 s",
                      "write 15",
                      "./conf/a b.yaml"},
                     {"private-alias",
                      FindingLevel::warning,
                      {"./conf/a b.yaml", {14, 3}, "x[\"<&'>\"]"},
                      "a \"b\" <c> & 'd' \xF0\x9F\x99\x82",
                      "re\nmove",
                      "./conf/a b.yaml"},
                     {"file-database",
                      FindingLevel::note,
                      {"/abs/inc.yaml", {}, ""},
                      "not here",
                      "look",
                      "./conf/a b.yaml"}};
  report.policy.checks["retry-pause"] = {false, "the proxy <in front> waits", std::nullopt};
  return report;
}

TEST(GatewaySarif, HasWhatTheStandardRequires) {
  const json log = json::parse(to_sarif(sample()));
  EXPECT_EQ(log["version"], "2.1.0");
  ASSERT_EQ(log["runs"].size(), 1U);
  const json& run = log["runs"][0];
  const json& driver = run["tool"]["driver"];
  EXPECT_EQ(driver["name"], "outcomed");
  EXPECT_EQ(driver["version"], "1.2.3");
  EXPECT_EQ(driver["rules"].size(), rule_list().size());
  EXPECT_EQ(run["columnKind"], "unicodeCodePoints");
  ASSERT_EQ(run["results"].size(), 3U);
  for (const json& result : run["results"]) {
    // The index names the same rule as the id.
    EXPECT_EQ(driver["rules"][result["ruleIndex"].get<std::size_t>()]["id"], result["ruleId"]);
    EXPECT_FALSE(result["message"]["text"].get<std::string>().empty());
    EXPECT_THAT(result["level"], ::testing::AnyOf("error", "warning", "note"));
    const json& place = result["locations"][0]["physicalLocation"];
    EXPECT_FALSE(place["artifactLocation"]["uri"].get<std::string>().empty());
    EXPECT_GE(place["region"]["startLine"], 1);
    EXPECT_GE(place["region"]["startColumn"], 1);
  }
  const json& first = run["results"][0];
  EXPECT_EQ(first["ruleId"], "cooldown-too-long");
  EXPECT_EQ(first["level"], "error");
  EXPECT_EQ(first["locations"][0]["physicalLocation"]["region"]["startLine"], 12);
  EXPECT_EQ(first["locations"][0]["physicalLocation"]["region"]["startColumn"], 18);
  EXPECT_EQ(first["locations"][0]["logicalLocations"][0]["fullyQualifiedName"],
            "router_settings.cooldown_time");
}

TEST(GatewaySarif, PathsAreUris) {
  const json results = json::parse(to_sarif(sample()))["runs"][0]["results"];
  const auto uri = [&](int i) {
    return results[i]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
  };
  EXPECT_EQ(uri(0), "conf/a%20b.yaml");
  EXPECT_EQ(uri(2), "file:///abs/inc.yaml");
}

TEST(GatewaySarif, ARunWithoutFindingsHasAnEmptyListOfResults) {
  GatewayReport report;
  report.files = {"a"};
  EXPECT_EQ(json::parse(to_sarif(report))["runs"][0]["results"], json::array());
}

TEST(GatewayJunit, EscapesWhatXmlWouldRead) {
  const std::string text = to_junit(sample());
  EXPECT_THAT(text, HasSubstr("message=\"a &quot;b&quot; &lt;c&gt; &amp; &apos;d&apos; "
                              "\xF0\x9F\x99\x82\""));
  EXPECT_THAT(text, HasSubstr("re&#10;move"));
  EXPECT_THAT(text, HasSubstr("x[&quot;&lt;&amp;&apos;&gt;&quot;]"));
  EXPECT_THAT(text, HasSubstr("<skipped message=\"the proxy &lt;in front&gt; waits\"/>"));
  EXPECT_THAT(text, Not(HasSubstr("<c>")));
}

TEST(GatewayJunit, ReplacesWhatXmlCantHold) {
  GatewayReport report = sample();
  report.findings[0].reason =
      "a\x01"
      "b\xff"
      "c\x1b[31m";
  EXPECT_THAT(to_junit(report), HasSubstr("message=\"a\xEF\xBF\xBD"
                                          "b\xEF\xBF\xBD"
                                          "c\xEF\xBF\xBD[31m\""));
}

TEST(GatewayJunit, CountsCasesFailuresAndSwitchedOffChecks) {
  const std::string text = to_junit(sample());
  EXPECT_THAT(text, HasSubstr("<testsuites name=\"outcomed gateway check\" tests=\"" +
                              std::to_string(rule_list().size()) +
                              "\" failures=\"2\" errors=\"0\" skipped=\"1\">"));
  EXPECT_THAT(text,
              HasSubstr("<testcase classname=\"outcomed.gateway\" name=\"private-address\"/>"));
  EXPECT_THAT(text, HasSubstr("<failure type=\"error\" message=\"60 s\">"));
  // A note is no failure.
  EXPECT_THAT(text, HasSubstr("<system-out>/abs/inc.yaml:0:0: file-database: not here; look"));
}

TEST(GatewayTable, IsOneParagraphAFindingAndASum) {
  EXPECT_EQ(to_table(sample()),
            "./conf/a b.yaml:12:18: error: cooldown-too-long: router_settings.cooldown_time\n"
            "    60 s\n    -> write 15\n\n"
            "./conf/a b.yaml:14:3: warning: private-alias: x[\"<&'>\"]\n"
            "    a \"b\" <c> & 'd' \xF0\x9F\x99\x82\n    -> re\\nmove\n\n"
            "/abs/inc.yaml: note: file-database\n    not here\n    -> look\n\n"
            "./conf/a b.yaml: 1 error, 1 warning, 1 note\n"
            "switched off: retry-pause (the proxy <in front> waits)\n");
}

TEST(GatewayJson, HasTheSumsAndEveryFinding) {
  const json report = json::parse(to_json(sample()));
  EXPECT_EQ(report["errors"], 1);
  EXPECT_EQ(report["warnings"], 1);
  EXPECT_EQ(report["notes"], 1);
  EXPECT_EQ(report["findings"][0],
            json::parse(R"({"file": "./conf/a b.yaml", "line": 12, "column": 18,
                            "path": "router_settings.cooldown_time", "check": "cooldown-too-long",
                            "level": "error", "reason": "60 s", "remedy": "write 15"})"));
  EXPECT_EQ(report["switched_off"][0]["check"], "retry-pause");
}

TEST(GatewayFindings, AreSortedByPlaceAndRepeatsGo) {
  std::vector<GatewayFinding> findings = sample().findings;
  findings.push_back(findings.front());
  std::swap(findings[0], findings[1]);
  sort_findings(findings);
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].spot.place.line, 12);
  EXPECT_TRUE(has_failures(findings));
  EXPECT_FALSE(has_failures({findings.back()}));
}

}  // namespace
}  // namespace outcomed
