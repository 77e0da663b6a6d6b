// SARIF 2.1.0 (OASIS), as code scanning services read it.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "daemon/gateway/report.h"
#include "daemon/gateway/rule_list.h"
#include "queries/base/ascii.h"

namespace outcomed {
namespace {

using Json = nlohmann::ordered_json;

// A path as a URI reference: relative paths stay relative, absolute ones become file:///….
std::string uri_of(std::string_view path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  while (path.starts_with("./")) path.remove_prefix(2);
  for (const char c : path) {
    const bool plain =
        is_alphanumeric(c) || c == '/' || c == '.' || c == '-' || c == '_' || c == '~';
    if (plain) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

Json rules_json() {
  Json rules = Json::array();
  for (const GatewayRule& rule : rule_list()) {
    rules.push_back({{"id", rule.id},
                     {"shortDescription", {{"text", rule.title}}},
                     {"fullDescription", {{"text", rule.why}}},
                     {"defaultConfiguration", {{"level", to_string(rule.level)}}}});
  }
  return rules;
}

Json result_json(const GatewayFinding& finding) {
  // A file as a whole has no region of its own; services want one.
  const Json region = {{"startLine", std::max(finding.spot.place.line, 1)},
                       {"startColumn", std::max(finding.spot.place.column, 1)}};
  Json location = {
      {"physicalLocation",
       {{"artifactLocation", {{"uri", uri_of(finding.spot.file)}}}, {"region", region}}}};
  if (!finding.spot.path.empty()) {
    location["logicalLocations"] = Json::array({{{"fullyQualifiedName", finding.spot.path}}});
  }
  return {{"ruleId", finding.rule},
          {"ruleIndex", find_rule(finding.rule) - rule_list().data()},
          {"level", to_string(finding.level)},
          {"message", {{"text", finding.reason + "; " + finding.remedy}}},
          {"locations", Json::array({std::move(location)})}};
}

}  // namespace

std::string to_sarif(const GatewayReport& report) {
  Json results = Json::array();
  for (const GatewayFinding& finding : report.findings) results.push_back(result_json(finding));
  Json artifacts = Json::array();
  for (const std::string& file : report.files) {
    artifacts.push_back({{"location", {{"uri", uri_of(file)}}}});
  }
  Json off = Json::array();
  for (const auto& [check, own] : report.policy.checks) {
    if (!own.enabled) off.push_back({{"check", check}, {"reason", own.reason}});
  }
  const Json run = {
      {"tool",
       {{"driver", {{"name", "outcomed"}, {"version", report.version}, {"rules", rules_json()}}}}},
      {"columnKind", "unicodeCodePoints"},
      {"artifacts", std::move(artifacts)},
      {"results", std::move(results)},
      {"properties", {{"switchedOff", std::move(off)}}}};
  const Json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                    {"version", "2.1.0"},
                    {"runs", Json::array({run})}};
  return log.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace outcomed
