// Findings for people and for programs. Every writer is given what was checked, so that a report
// without findings says so.
#pragma once

#include <string>
#include <vector>

#include "daemon/gateway/finding.h"
#include "daemon/gateway/policy.h"

namespace outcomed {

struct GatewayReport {
  std::vector<std::string> files;  // The main files, as they were named.
  std::vector<GatewayFinding> findings;
  GatewayPolicy policy;
  std::string version;  // Of this program.
};

// FILE:LINE:COLUMN: LEVEL: CHECK: PATH, then the reason and the remedy, wrapped and indented; last
// a line with the sums and one for each check that the policy switches off.
std::string to_table(const GatewayReport& report);

// {"files", "findings": [{"file","line","column","path","check","level","reason","remedy"}],
//  "errors", "warnings", "notes", "switched_off": [{"check","reason"}]}
std::string to_json(const GatewayReport& report);

// SARIF 2.1.0, one run. Columns are counted in characters.
std::string to_sarif(const GatewayReport& report);

// JUnit XML: a test suite for each file, a test case for each check that passes, fails (a case for
// each finding) or is switched off (skipped). Notes stand in the suite's system-out.
std::string to_junit(const GatewayReport& report);

}  // namespace outcomed
