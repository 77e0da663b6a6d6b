// One feed's scores as a picture: new against old, one circle for each pair of scores.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "daemon/rescore/report_text.h"

namespace outcomed {

// A whole SVG 1.1 document, 680 by 720: circles with areas as the counts, both thresholds, the line
// of equal scores (where both judges use much the same scale), axes, counts of the four decisions.
// Text stays text. Scores with more than 600 different pairs are put together on a grid of 40
// by 40.
std::string feed_svg(const FeedReport& feed, const RescoreTerms& terms, const JudgeNames& names);

// File names for the feeds of a report, in their order: letters, digits, '.', '_' and '-' of the
// feed's name, no hidden file and no two alike: "en-de.svg".
std::vector<std::string> svg_file_names(const std::vector<FeedReport>& feeds);

}  // namespace outcomed
