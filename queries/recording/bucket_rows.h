// The CSV form of a recording, read whole and checked: signal,start,seconds,n,k and label columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "queries/signal.h"
#include "queries/source.h"

namespace outcomed {

// What happened in one cell during one step.
struct CellCount {
  std::int64_t step = 0;  // Steps since the epoch.
  CellId cell = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};

struct SignalRows {
  std::vector<Labels> cells;
  std::vector<CellCount> rows;  // By step. A step of the file has at least one row, zeros included.
};

struct BucketRows {
  std::vector<SignalRows> signals;  // In the order of the plans.
  std::vector<Problem> problems;
  std::vector<std::string> facts;
};

// Rows may stand in any order. `file` is how messages name the text. Rows of one signal, step and
// label set that differ only in failure labels share one n. A label column that the signal doesn't
// declare is summed over; whether it splits n or, like a failure label, repeats it, is told by the
// rows (find_splitting_columns) and said in a fact.
// A start off the grid of steps is moved to the nearest step, with a problem.
// Errors: invalid; all faults, one a line, "file:line:column: …", at most 20 of them.
Result<BucketRows> read_bucket_rows(const std::string& file, std::string_view text,
                                    const std::vector<SignalPlan>& plans);

}  // namespace outcomed
