// One thing that `outcomed gateway check` has to say about a gateway's configuration.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/problem.h"

namespace outcomed {

// Where a value stands: the file it was written in (an include has its own), and the path of the
// value there. A value that came through an alias keeps the place of its anchor.
struct GatewaySpot {
  std::string file;
  Place place;
  std::string path;  // model_list[0].litellm_params.api_base
  friend bool operator==(const GatewaySpot&, const GatewaySpot&) = default;
};

// Errors and warnings fail a run, notes don't.
enum class FindingLevel { error, warning, note };
std::string_view to_string(FindingLevel level);

struct GatewayFinding {
  std::string rule;  // An id of rule_list().
  FindingLevel level = FindingLevel::error;
  GatewaySpot spot;
  std::string reason;          // What is wrong and what it leads to, a sentence. Never holds a key.
  std::string remedy;          // What to write instead.
  std::string main_file = {};  // The configuration that was checked; spot.file may be an include.
  friend bool operator==(const GatewayFinding&, const GatewayFinding&) = default;
};

// By file, line, column and rule; exact repeats go.
void sort_findings(std::vector<GatewayFinding>& findings);

// Whether a run with these findings fails.
bool has_failures(const std::vector<GatewayFinding>& findings);

}  // namespace outcomed
