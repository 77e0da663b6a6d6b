// JUnit XML, as CI servers read it.
#include <fmt/core.h>

#include <algorithm>

#include "daemon/gateway/report.h"
#include "daemon/gateway/rule_list.h"
#include "queries/base/utf8.h"

namespace outcomed {
namespace {

// Text and attributes alike. Characters that XML 1.0 can't hold become U+FFFD.
std::string xml(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Sequence next = utf8_sequence(text.substr(at));
    const char c = text[at];
    if (!next.valid ||
        (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') ||
        text.substr(at, 3) == "\xEF\xBF\xBE" || text.substr(at, 3) == "\xEF\xBF\xBF") {
      out += "\xEF\xBF\xBD";
      at += next.valid ? next.bytes : 1;
      continue;
    }
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&apos;";
        break;
      case '\t':
      case '\n':
      case '\r':
        out += fmt::format("&#{};", static_cast<int>(c));  // Attributes would lose them.
        break;
      default:
        out += text.substr(at, next.bytes);
    }
    at += next.bytes;
  }
  return out;
}

std::string where(const GatewaySpot& spot) {
  return fmt::format("{}:{}:{}", spot.file, spot.place.line, spot.place.column);
}

struct Suite {
  std::string cases;
  std::string notes;
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t skipped = 0;
};

void add_failure(const GatewayFinding& finding, Suite& suite) {
  ++suite.tests;
  ++suite.failures;
  suite.cases += fmt::format(
      "    <testcase classname=\"outcomed.gateway\" name=\"{0}: {1}\" file=\"{2}\" line=\"{3}\">\n"
      "      <failure type=\"{4}\" message=\"{5}\">{6}: {1}: {5}; {7}</failure>\n"
      "    </testcase>\n",
      xml(finding.rule), xml(finding.spot.path), xml(finding.spot.file), finding.spot.place.line,
      to_string(finding.level), xml(finding.reason), xml(where(finding.spot)), xml(finding.remedy));
}

// `findings` are those of one main file and of what it includes.
Suite make_suite(const std::vector<const GatewayFinding*>& findings, const GatewayPolicy& policy) {
  Suite suite;
  for (const GatewayRule& rule : rule_list()) {
    const auto own = policy.checks.find(rule.id);
    if (own != policy.checks.end() && !own->second.enabled) {
      ++suite.tests;
      ++suite.skipped;
      suite.cases += fmt::format(
          "    <testcase classname=\"outcomed.gateway\" name=\"{}\">\n"
          "      <skipped message=\"{}\"/>\n    </testcase>\n",
          rule.id, xml(own->second.reason));
      continue;
    }
    bool failed = false;
    for (const GatewayFinding* finding : findings) {
      if (finding->rule != rule.id) continue;
      if (finding->level == FindingLevel::note) {
        suite.notes += fmt::format("{}: {}: {}; {}\n", where(finding->spot), finding->rule,
                                   finding->reason, finding->remedy);
        continue;
      }
      failed = true;
      add_failure(*finding, suite);
    }
    if (failed) continue;
    ++suite.tests;
    suite.cases +=
        fmt::format("    <testcase classname=\"outcomed.gateway\" name=\"{}\"/>\n", rule.id);
  }
  return suite;
}

}  // namespace

std::string to_junit(const GatewayReport& report) {
  std::string suites;
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t skipped = 0;
  for (std::size_t i = 0; i < report.files.size(); ++i) {
    std::vector<const GatewayFinding*> own;
    for (const GatewayFinding& finding : report.findings) {
      if (finding.main_file == report.files[i]) own.push_back(&finding);
    }
    const Suite suite = make_suite(own, report.policy);
    tests += suite.tests;
    failures += suite.failures;
    skipped += suite.skipped;
    suites += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n{}",
        xml(report.files[i]), suite.tests, suite.failures, suite.skipped, suite.cases);
    if (!suite.notes.empty()) {
      suites += fmt::format("    <system-out>{}</system-out>\n", xml(suite.notes));
    }
    suites += "  </testsuite>\n";
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"outcomed gateway check\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
      "skipped=\"{}\">\n{}</testsuites>\n",
      tests, failures, skipped, suites);
}

}  // namespace outcomed
