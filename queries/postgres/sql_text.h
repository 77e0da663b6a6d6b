// Users' SQL: one whole query, of a signal with :from and :to in it; names of tables and columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "queries/base/result.h"

namespace outcomed {

struct SqlText {
  std::string text;  // :from became $1, :to became $2; without a semicolon at the end.
};

// Quotes, dollar quotes, comments and casts (::date) are left alone. Errors (invalid): :from or :to
// missing, another :name, a parameter $1 of the user's own, several statements, a quote that
// doesn't end, nothing that begins with select, with, values or table.
Result<SqlText> parse_sql_text(std::string_view sql);

// The same without :from and :to; both, any other :name and $1 are errors.
Result<SqlText> parse_whole_query(std::string_view sql);

// The labels of a signal's SQL, where nobody declares them: the names of its result columns other
// than at, n and k, in their order. Read off the first select list outside of parentheses. Errors
// (invalid): those of parse_sql_text; a list that doesn't say its names ("*"), or that lacks at, n
// or k.
Result<std::vector<std::string>> sql_label_columns(std::string_view sql);

// "LiteLLM_SpendLogs" in double quotes, quotes in it doubled.
std::string quote_identifier(std::string_view name);

// A table's name as a person writes it, as one in double quotes: public.scores ->
// "public"."scores". A part is meant as it is written (upper case stays); one with dots or quotes
// in it is written in double quotes. Errors (invalid): an empty part, a quote that doesn't end,
// more than two parts.
Result<std::string> quote_table_name(std::string_view name);

}  // namespace outcomed
