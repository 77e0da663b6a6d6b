// Scores asked of a PostgreSQL database, in the source's read-only transaction and with its limits.
#pragma once

#include <string>

#include "daemon/rescore/score_rows.h"
#include "queries/postgres/session.h"

namespace outcomed {

// The rows of one whole query, columns by their names, NULL being a missing value. `origin` names
// it in messages. Errors: those of the session; invalid: a column that the answer lacks or has
// twice, no row at all.
Result<ScoreRows> read_score_query(PostgresSession& session, const std::string& sql,
                                   const std::string& origin, const ScoreColumns& columns);

// The same columns of a table or a view. Errors, besides: invalid: a name that is none
// (quote_table_name), no such table.
Result<ScoreRows> read_score_table(PostgresSession& session, const std::string& table,
                                   const std::string& origin, const ScoreColumns& columns);

}  // namespace outcomed
