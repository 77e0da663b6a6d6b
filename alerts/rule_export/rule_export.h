// Threshold rules as a Prometheus rule file, for those who want the same lines watched without us.
// docs/rule_export.md says where the two can't be equal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "queries/base/labels.h"
#include "queries/base/result.h"
#include "queries/base/time.h"

namespace outcomed {

// label_replace: where `regex` (RE2, anchored) matches the series' label `source`, the signal's
// label `target` becomes `replacement`. Of several for one target the last that matches wins; an
// empty source and regex always match. A label that no mapping names is read under its own name.
struct ExportMapping {
  std::string target;
  std::string source;
  std::string regex = "(.*)";
  std::string replacement = "$1";
};

// Counters that are added (sign 1) or taken off (−1), each divided by how often it counts one
// event.
struct ExportTerm {
  std::string selector;  // A plain PromQL selector.
  int sign = 1;
  int divisor = 1;
  std::vector<ExportMapping> labels;
};

struct ExportTier {
  double threshold = 0;  // A share: 0.1.
  Duration hold{};       // `for`
  std::string severity;
};

struct ExportRule {
  std::string name;
  bool below = false;             // Breached below the line instead of above.
  std::vector<ExportTier> tiers;  // One alert each.
  Duration window{};
  Duration step = std::chrono::minutes(1);
  Duration keep_firing{};  // 0: `keep_firing_for` isn't written.
  std::optional<double>
      resolve_line;  // resolve_below (resolve_above): the file says it is left out.
  std::int64_t min_requests = 0;
  std::int64_t min_failures = 0;
  Labels labels;
  Labels annotations;
  std::vector<std::string> by;
  std::vector<std::string> failure_labels;  // Those of `by` that split failures, never requests.
  std::vector<ExportTerm> failures;
  std::vector<ExportTerm> requests;
  std::string unit = "requests";
  std::string outcome = "failed";
};

// YAML that `promtool check rules` accepts, one group for each step. Text is written as literal:
// `{{` in a label or annotation is escaped, no template of a user is run. Invalid: a rule that
// can't be written, named with the reason.
Result<std::string> export_prometheus(const std::vector<ExportRule>& rules);

}  // namespace outcomed
