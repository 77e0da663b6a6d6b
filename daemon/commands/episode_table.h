#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "alerts/alert.h"

namespace outcomed {

// One line for each episode; below it, where `sentences`, what it said.
void print_episodes(std::ostream& out, const std::vector<Episode>& episodes, bool with_id);
void print_episodes_csv(std::ostream& out, const std::vector<Episode>& episodes);

}  // namespace outcomed
