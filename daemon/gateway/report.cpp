#include "daemon/gateway/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/config/words.h"

namespace outcomed {
namespace {

constexpr std::size_t kWidth = 100;

// Words that fit into a line, each line indented.
void wrap(std::string_view text, std::string_view indent, std::string& out) {
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (column > 0 && column + 1 + word.size() > kWidth) {
      out += '\n';
      column = 0;
    }
    if (column == 0) {
      out += indent;
      column = indent.size();
    } else {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  out += '\n';
}

std::string counted(std::size_t count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::size_t count_of(const GatewayReport& report, FindingLevel level) {
  return static_cast<std::size_t>(
      std::ranges::count(report.findings, level, &GatewayFinding::level));
}

}  // namespace

std::string to_table(const GatewayReport& report) {
  std::string out;
  for (const GatewayFinding& finding : report.findings) {
    const GatewaySpot& spot = finding.spot;
    out += escape_controls(spot.file);
    if (spot.place.line > 0) out += fmt::format(":{}:{}", spot.place.line, spot.place.column);
    out += fmt::format(": {}: {}", to_string(finding.level), finding.rule);
    if (!spot.path.empty()) out += ": " + escape_controls(spot.path);
    out += '\n';
    wrap(escape_controls(finding.reason), "    ", out);
    wrap("-> " + escape_controls(finding.remedy), "    ", out);
    out += '\n';
  }
  out += fmt::format("{}: {}, {}, {}\n",
                     escape_controls(fmt::format("{}", fmt::join(report.files, ", "))),
                     counted(count_of(report, FindingLevel::error), "error"),
                     counted(count_of(report, FindingLevel::warning), "warning"),
                     counted(count_of(report, FindingLevel::note), "note"));
  for (const auto& [check, own] : report.policy.checks) {
    if (!own.enabled) {
      out += fmt::format("switched off: {} ({})\n", check, escape_controls(own.reason));
    }
  }
  return out;
}

std::string to_json(const GatewayReport& report) {
  nlohmann::ordered_json findings = nlohmann::ordered_json::array();
  for (const GatewayFinding& finding : report.findings) {
    findings.push_back({{"file", finding.spot.file},
                        {"line", finding.spot.place.line},
                        {"column", finding.spot.place.column},
                        {"path", finding.spot.path},
                        {"check", finding.rule},
                        {"level", to_string(finding.level)},
                        {"reason", finding.reason},
                        {"remedy", finding.remedy}});
  }
  nlohmann::ordered_json off = nlohmann::ordered_json::array();
  for (const auto& [check, own] : report.policy.checks) {
    if (!own.enabled) off.push_back({{"check", check}, {"reason", own.reason}});
  }
  const nlohmann::ordered_json all = {{"files", report.files},
                                      {"findings", std::move(findings)},
                                      {"errors", count_of(report, FindingLevel::error)},
                                      {"warnings", count_of(report, FindingLevel::warning)},
                                      {"notes", count_of(report, FindingLevel::note)},
                                      {"switched_off", std::move(off)}};
  return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace outcomed
