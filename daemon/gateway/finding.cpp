#include "daemon/gateway/finding.h"

#include <algorithm>
#include <tuple>

namespace outcomed {

std::string_view to_string(FindingLevel level) {
  switch (level) {
    case FindingLevel::error:
      return "error";
    case FindingLevel::warning:
      return "warning";
    case FindingLevel::note:
      break;
  }
  return "note";
}

void sort_findings(std::vector<GatewayFinding>& findings) {
  const auto key = [](const GatewayFinding& finding) {
    return std::tie(finding.spot.file, finding.spot.place, finding.rule, finding.spot.path,
                    finding.reason);
  };
  std::ranges::stable_sort(findings, [&](const auto& a, const auto& b) { return key(a) < key(b); });
  const auto rest = std::ranges::unique(findings);
  findings.erase(rest.begin(), rest.end());
}

bool has_failures(const std::vector<GatewayFinding>& findings) {
  return std::ranges::any_of(
      findings, [](const GatewayFinding& finding) { return finding.level != FindingLevel::note; });
}

}  // namespace outcomed
