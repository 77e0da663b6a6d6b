// A CSV file of scores.
#pragma once

#include <string>
#include <string_view>

#include "daemon/rescore/score_rows.h"

namespace outcomed {

// Text before the header or a broken quote ends the reading. Errors (invalid): "FILE:LINE:COLUMN:
// what", those of the header (ScoreRowReader), no row at all.
Result<ScoreRows> read_score_rows(std::string_view text, const std::string& file,
                                  const ScoreColumns& columns);

// The whole file, plain or gzip, at most 1 GiB. Errors: unavailable (can't be opened or read),
// corrupt, too_large.
Result<std::string> read_score_file(const std::string& path);

}  // namespace outcomed
