// What the label columns of a CSV recording do where the signal doesn't say so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "queries/recording/csv_rows.h"

namespace outcomed {

// For each label set, the id of what is left when only the columns `kept` are looked at.
std::vector<std::uint32_t> project_sets(const ValueSets& sets, const std::vector<bool>& kept);

// Adds to `splits` (columns that are known to split n) those of `open` that do; the others repeat
// n, as failure labels do. Told by the rows of one signal:
// - rows that differ in this column alone and disagree about n: it splits;
// - they always agree, while their n changes from step to step: it repeats;
// - else as interfaces.md 4.3 has it: a failure label is empty where nothing failed. What is filled
// in
//   a row without failures splits.
// Whatever is left open is taken for a failure label as long as the rows then agree about n.
// False: it makes no difference, no two rows of a step differ in them alone.
bool find_splitting_columns(const ValueSets& sets, std::span<const CsvRow> rows,
                            const std::vector<std::size_t>& open, std::vector<bool>& splits);

}  // namespace outcomed
