#include "daemon/rescore/score_query.h"

#include <fmt/core.h>

#include <algorithm>

#include "queries/base/utf8.h"
#include "queries/postgres/sql_text.h"

namespace outcomed {
namespace {

using Names = std::vector<std::string>;

std::vector<std::string_view> views_of(const Names& names) { return {names.begin(), names.end()}; }

// Of a table, a view or a foreign table; none where there is no such thing.
Result<Names> columns_of_table(PostgresSession& session, const std::string& quoted) {
  Names names;
  SqlQuery query;
  query.text =
      "select attname from pg_catalog.pg_attribute where attrelid = pg_catalog.to_regclass($1) and "
      "attnum > 0 and not attisdropped order by attnum";
  query.parameters = {{quoted}};
  query.on_row = [&](SqlRow row) {
    names.emplace_back(row[0].value_or(""));
    return ok();
  };
  if (Status status = session.query(query, [&] { names.clear(); }); !status) {
    return std::move(status).error();
  }
  return names;
}

// One column may have two meanings: feed and item.
std::string select_text(const std::string& quoted, const ScoreColumns& columns) {
  Names wanted;
  for (const std::string* name :
       {&columns.feed, &columns.item, &columns.old_score, &columns.new_score, &columns.weight}) {
    if (name->empty()) continue;
    std::string column = quote_identifier(*name);
    if (std::ranges::find(wanted, column) == wanted.end()) wanted.push_back(std::move(column));
  }
  std::string list;
  for (const std::string& column : wanted) list += (list.empty() ? "" : ", ") + column;
  return "select " + list + " from " + quoted;
}

}  // namespace

Result<ScoreRows> read_score_query(PostgresSession& session, const std::string& sql,
                                   const std::string& origin, const ScoreColumns& columns) {
  std::optional<ScoreRowReader> reader;
  std::size_t count = 0;
  std::vector<std::string_view> texts;
  Status header = ok();
  SqlQuery query;
  query.text = sql;
  query.on_columns = [&](const Names& names) {
    header = reader->header(views_of(names));
    return header;
  };
  query.on_row = [&](SqlRow row) {
    texts.clear();
    for (const SqlValue& value : row) texts.push_back(value.value_or(""));
    reader->row(texts, ++count);
    return ok();
  };
  Status status = session.query(query, [&] {
    reader.emplace(origin, columns, "row");
    count = 0;
  });
  if (!header) return std::move(header).error();
  if (!status) return std::move(status).error();
  if (count == 0) return Error{ErrorKind::invalid, origin + " has no rows"};
  return reader->finish();
}

Result<ScoreRows> read_score_table(PostgresSession& session, const std::string& table,
                                   const std::string& origin, const ScoreColumns& columns) {
  auto quoted = quote_table_name(table);
  if (!quoted) return std::move(quoted).error().while_doing("--table");
  const auto names = columns_of_table(session, *quoted);
  if (!names) return names.error();
  if (names->empty()) {
    return Error{ErrorKind::invalid,
                 fmt::format("--table: there is no table {} in this database; upper and lower case "
                             "count, and outside of the search path it needs its schema: "
                             "public.scores",
                             repair_utf8(*quoted))};
  }
  // Before the server is asked: its own words don't name the columns that are there.
  ScoreRowReader reader(origin, columns, "row");
  if (Status status = reader.header(views_of(*names)); !status) return std::move(status).error();
  return read_score_query(session, select_text(*quoted, columns), origin, columns);
}

}  // namespace outcomed
