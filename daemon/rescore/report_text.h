// The re-scoring report in words and columns.
#pragma once

#include <string>
#include <vector>

#include "daemon/report/report_text.h"
#include "daemon/rescore/score_rows.h"
#include "detectors/stats/rescore.h"

namespace outcomed {

// What the two judges are called: the columns of their scores.
struct JudgeNames {
  std::string old_judge;
  std::string new_judge;
};

ReportText report_text(const RescoreReport& report, const JudgeNames& names);

// "line 7", "lines 7, 9 and 12", "lines 1, 2, 3 and 90 more": "3 rows skipped: gpt4 is missing
// (…)".
std::vector<std::string> skipped_text(const ScoreRows& rows);

std::string number_text(double value);  // 95, 4.5, 0.125: at most six digits, no trailing zeros.

}  // namespace outcomed
