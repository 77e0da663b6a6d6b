#include "queries/postgres/sql_signal.h"

#include <fmt/core.h>

#include <algorithm>

#include "queries/base/ascii.h"
#include "queries/base/utf8.h"
#include "queries/postgres/values.h"

namespace outcomed {
namespace {

constexpr std::size_t kLongestLabel = 1024;  // Bytes; more is no label but a text.

}  // namespace

Result<SqlSignal> SqlSignal::make(const SignalPlan& plan) {
  auto sql = parse_sql_text(plan.sql);
  if (!sql) return std::move(sql).error().while_doing("sql of signal " + plan.name);
  return SqlSignal(plan, *std::move(sql));
}

SqlSignal::SqlSignal(const SignalPlan& plan, SqlText sql) : plan_(plan), sql_(std::move(sql)) {}

void SqlSignal::seed_cells(const std::vector<Labels>& cells) {
  cells_ = cells;
  ids_.clear();
  for (CellId id = 0; id < cells.size(); ++id) ids_.emplace(cells[id], id);
}

Timestamp SqlSignal::asked_time(Timestamp begin_of_step) const {
  if (!daily()) return begin_of_step;
  // Noon is in the middle of the civil day that the step stands for, whatever its clocks do.
  return begin_of_day(plan_.zone.get(), local_day(plan_.zone.get(), begin_of_step + 12h));
}

std::optional<std::size_t> SqlSignal::step_at(const TimeRange& range, Timestamp at) const {
  const Timestamp shifted = daily() ? at + 12h : at;
  if (shifted < range.begin) return std::nullopt;
  const auto step = static_cast<std::size_t>((shifted - range.begin) / plan_.step);
  if (step >= static_cast<std::size_t>(range.length() / plan_.step)) return std::nullopt;
  return step;
}

Status SqlSignal::find_columns(const std::vector<std::string>& names, Columns& columns) const {
  const auto find = [&](const std::string& wanted, std::size_t& place) -> Status {
    std::size_t count = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (lower_case(names[i]) != lower_case(wanted)) continue;
      place = i;
      ++count;
    }
    if (count == 1) return ok();
    std::string there;
    for (const std::string& name : names) there += (there.empty() ? "" : ", ") + name;
    return Error{ErrorKind::rejected,
                 fmt::format("the query returns {} column {}; it must return at, n, k and the "
                             "signal's labels, and it returns: {}",
                             count == 0 ? "no" : "more than one", wanted, there.substr(0, 200))};
  };
  for (const auto& [name, place] : {std::pair<std::string, std::size_t*>("at", &columns.at),
                                    {"n", &columns.n},
                                    {"k", &columns.k}}) {
    if (Status status = find(name, *place); !status) return status;
  }
  columns.labels.assign(plan_.labels.size(), 0);
  for (std::size_t i = 0; i < plan_.labels.size(); ++i) {
    if (Status status = find(plan_.labels[i], columns.labels[i]); !status) return status;
  }
  return ok();
}

CellId SqlSignal::cell(const Columns& columns, SqlRow row) {
  Labels labels;
  for (std::size_t i = 0; i < plan_.labels.size(); ++i) {
    const SqlValue& value = row[columns.labels[i]];
    if (value) labels.set(plan_.labels[i], repair_utf8(value->substr(0, kLongestLabel)));
  }
  const auto [found, fresh] = ids_.emplace(std::move(labels), static_cast<CellId>(cells_.size()));
  if (fresh) cells_.push_back(found->first);
  return found->second;
}

// Each kind of fault is said once, by its first row.
void SqlSignal::note(Piece& piece, std::string what, std::string message) const {
  if (std::ranges::find(piece.problems, what, &Problem::what) != piece.problems.end()) return;
  piece.problems.push_back({std::move(what), plan_.name, std::move(message)});
}

void SqlSignal::take_row(Piece& piece, SqlRow row) {
  const SqlValue& text = row[piece.columns.at];
  const auto at = text ? parse_sql_time(*text, plan_.zone.get())
                       : Result<Timestamp>(Error{ErrorKind::invalid, "NULL is no time"});
  if (!at) {
    note(piece, "bad_row",
         fmt::format("column at: {}; the steps asked for can't be trusted",
                     repair_utf8(at.error().message)));
    for (std::size_t i = 0; i < static_cast<std::size_t>(piece.range.length() / plan_.step); ++i) {
      piece.counts.spoil(i);
    }
    return;
  }
  const auto step = step_at(piece.range, *at);
  if (!step) {
    note(
        piece, "rows_outside",
        fmt::format("the query returned a row at {}, outside the time it was asked for ({} to {}); "
                    "such rows are left out: filter by at >= :from and at < :to",
                    format_rfc3339(*at), format_rfc3339(asked_time(piece.range.begin)),
                    format_rfc3339(asked_time(piece.range.end))));
    return;
  }
  const auto count = [&](std::size_t column, std::string_view name) -> std::int64_t {
    if (!row[column]) return 0;
    const auto value = parse_sql_count(*row[column]);
    if (value) return *value;
    note(piece, "bad_row",
         fmt::format("column {}: {}; its step can't be trusted", name,
                     repair_utf8(value.error().message)));
    piece.counts.spoil(*step);
    return 0;
  };
  const std::int64_t n = count(piece.columns.n, "n");
  const std::int64_t k = count(piece.columns.k, "k");
  if (k > n) {
    note(piece, "bad_row", fmt::format("k {} is more than n {}; its step can't be trusted", k, n));
    piece.counts.spoil(*step);
    return;
  }
  if (!piece.counts.add(cell(piece.columns, row), *step, n, k)) piece.counts.spoil(*step);
}

Status SqlSignal::read_piece(Piece& piece, PostgresSession& session) {
  const auto steps = static_cast<std::size_t>(piece.range.length() / plan_.step);
  SqlQuery query;
  query.text = sql_.text;
  query.time_zone = plan_.time_zone.empty() ? "UTC" : plan_.time_zone;
  for (const Timestamp at : {asked_time(piece.range.begin), asked_time(piece.range.end)}) {
    query.parameters.push_back(
        {sql_time(at, plan_.zone.get()), SqlParameter::Type::timestamp_with_zone});
  }
  query.on_columns = [&](const std::vector<std::string>& names) {
    return find_columns(names, piece.columns);
  };
  query.on_row = [&](SqlRow row) {
    take_row(piece, row);
    return ok();
  };
  return session.query(query, [&] {
    piece.counts = PieceCounts(steps);
    piece.problems.clear();
  });
}

Result<SignalBatch> SqlSignal::read(TimeRange range, PostgresSession& session,
                                    std::vector<Problem>& problems) {
  std::vector<PieceCounts> gathered;
  Status status = pieces_.read(range, plan_.step, [&](TimeRange of) {
    Piece piece;
    piece.range = of;
    if (Status read = read_piece(piece, session); !read) return read;
    gathered.push_back(std::move(piece.counts));
    problems.insert(problems.end(), piece.problems.begin(), piece.problems.end());
    return ok();
  });
  if (!status) return std::move(status).error().while_doing("signal " + plan_.name);
  return PieceCounts::join(gathered, range, plan_.step, cells_.size());
}

}  // namespace outcomed
