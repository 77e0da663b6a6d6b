// The re-scoring report for programs.
#pragma once

#include <string>

#include "daemon/rescore/report_text.h"

namespace outcomed {

// {"old", "new", "rows", "skipped": […], "notes": […], "feeds": [{"feed", "n", "spearman": [value,
// low, high], …}], "pooled": {…}}. Numbers that don't exist are null; shares are 0 to 1.
std::string rescore_json(const RescoreReport& report, const JudgeNames& names,
                         const ScoreRows& rows);

}  // namespace outcomed
