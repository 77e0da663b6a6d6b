// Where the rows of `rescore` come from: a file, a query, or a table.
#pragma once

#include <optional>
#include <string>

#include "daemon/commands/options.h"
#include "daemon/rescore/score_rows.h"

namespace outcomed {

struct ScoreInput {
  enum class Kind { csv, sql, table };
  Kind kind = Kind::csv;
  std::string text;    // As it was given to its option.
  std::string origin;  // In messages: the file's name, "the query", "table scores".
};

void add_score_input_options(Options& options);

// Error invalid: none of --csv, --sql, --table, or several.
Result<ScoreInput> score_input_of(const Options& options);

// Fills `rows`. Otherwise the command ends with the status, and why was said.
std::optional<ExitStatus> read_scores(const ScoreInput& input, const Options& options,
                                      const ScoreColumns& columns, Shell& shell, ScoreRows& rows);

}  // namespace outcomed
