#include "queries/postgres/event_table_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "queries/postgres/sql_text.h"
#include "queries/postgres/values.h"

namespace outcomed {
namespace {

constexpr std::string_view kColumns =
    "select a.attname from pg_attribute a where a.attrelid = to_regclass($1) and a.attnum > 0 "
    "and not a.attisdropped";

}  // namespace

EventTableReader::EventTableReader(const PostgresSettings& settings, std::vector<SignalPlan> plans)
    : settings_(settings),
      plans_(std::move(plans)),
      step_(plans_.front().step),
      remembered_(settings.late_rows + settings.late_rows / 2),
      counter_(plans_.front().rows(plans_)) {}

Status EventTableReader::learn_columns(PostgresSession& session) {
  if (!select_.empty()) return ok();
  const RowTable& table = counter_->table();
  std::set<std::string, std::less<>> there;
  SqlQuery query;
  query.text = kColumns;
  query.parameters = {{quote_identifier(table.name)}};
  query.on_row = [&](SqlRow row) {
    there.emplace(row[0].value_or(""));
    return ok();
  };
  if (Status status = session.query(query, [&] { there.clear(); }); !status) return status;
  if (there.empty()) {
    return Error{ErrorKind::rejected,
                 fmt::format("there is no table {} in this database: is it the gateway's?",
                             quote_identifier(table.name))};
  }
  std::string select = "select";
  std::vector<std::string> absent;
  const auto need = [&](const std::string& column) -> Status {
    if (there.contains(column)) return ok();
    return Error{ErrorKind::rejected,
                 fmt::format("table {} has no column {}: this version of the gateway can't be read",
                             quote_identifier(table.name), quote_identifier(column))};
  };
  for (const std::string* column : {&table.id, &table.end, &table.begin}) {
    if (Status status = need(*column); !status) return status;
  }
  select += fmt::format(" {}, {}", quote_identifier(table.id), quote_identifier(table.end));
  for (const RowColumn& column : table.columns) {
    if (there.contains(column.name)) {
      select +=
          ", " + (column.expression.empty() ? quote_identifier(column.name) : column.expression);
      continue;
    }
    if (!column.optional) {
      if (Status status = need(column.name); !status) return status;
    }
    select += ", null";
    if (std::ranges::find(absent, column.name) == absent.end()) absent.push_back(column.name);
  }
  select_ = fmt::format("{} from {} where {} >= $1 and {} < $2 and {} >= $3 and {} < $4", select,
                        quote_identifier(table.name), quote_identifier(table.begin),
                        quote_identifier(table.begin), quote_identifier(table.end),
                        quote_identifier(table.end));
  absent_ = std::move(absent);
  return ok();
}

SqlQuery EventTableReader::statement(const Piece& piece, Duration look_back) const {
  SqlQuery query;
  query.text = select_;
  query.parameters = {{sql_time(piece.late_from - look_back, nullptr)},
                      {sql_time(piece.range.end, nullptr)},
                      {sql_time(piece.late_from, nullptr)},
                      {sql_time(piece.range.end, nullptr)}};
  return query;
}

void EventTableReader::take_row(Piece& piece, SqlRow row) {
  ++rows_read_;
  const auto end = row[1] ? parse_sql_time(*row[1], nullptr)
                          : Result<Timestamp>(Error{ErrorKind::invalid, "NULL"});
  if (!end || !row[0]) {
    ++piece.without_time;
    return;
  }
  const std::uint64_t id = SeenRows::hash(*row[0]);
  if (memory_.seen.holds(id) && !piece.first) return;
  // Only these can come again.
  if (*end >= piece.range.end - remembered_) {
    if (!piece.ids.insert(id).second) return;
    piece.counted.emplace_back(id, *end);
  }
  std::size_t step = 0;
  if (*end < piece.range.begin) {
    if (piece.first || *end < memory_.seen.complete_from()) return;
    ++piece.late;
  } else {
    step = static_cast<std::size_t>((*end - piece.range.begin) / step_);
  }
  counts_.clear();
  counter_->count(*row[0], *end, row.subspan(2), counts_);
  for (const RowCount& count : counts_) {
    if (!piece.signals[count.signal].add(count.cell, step, count.n, count.k)) {
      piece.signals[count.signal].spoil(step);
    }
  }
}

Status EventTableReader::read_piece(Piece& piece, Duration look_back, PostgresSession& session) {
  SqlQuery query = statement(piece, look_back);
  query.on_row = [&](SqlRow row) {
    take_row(piece, row);
    return ok();
  };
  const auto steps = static_cast<std::size_t>(piece.range.length() / step_);
  Status status = session.query(query, [&] {
    piece.signals.assign(plans_.size(), PieceCounts(steps));
    piece.counted.clear();
    piece.ids.clear();
    piece.late = piece.without_time = 0;
  });
  // The table may have been changed: an upgrade of the gateway. Its columns are looked at anew.
  if (!status && status.error().kind == ErrorKind::rejected) select_.clear();
  return status;
}

void EventTableReader::add_problems(const Piece& piece, std::vector<Problem>& problems) const {
  const std::string& table = counter_->table().name;
  if (piece.late > 0) {
    problems.push_back({"late_rows", table,
                        "rows appeared later than `delay` after their end, or took longer than "
                        "longest_request; they were counted when they were seen: raise delay to "
                        "count them in their minute"});
  }
  if (piece.without_time > 0) {
    problems.push_back({"rows_without_time", table,
                        "rows without id or end, or with an end that is no time, were left out"});
  }
}

Result<Fetch> EventTableReader::read(TimeRange range, PostgresSession& session) {
  if (Status status = learn_columns(session); !status) return std::move(status).error();
  next_ = memory_;
  const bool first = memory_.read_until != range.begin;
  if (first) next_.seen = {};
  const bool sweep = first || settings_.late_rows == 0ms ||
                     range.begin - memory_.swept_at >= settings_.late_rows / 2;
  if (sweep) next_.swept_at = range.begin;
  counter_->take_evidence();  // Of a range that was read in vain.
  std::vector<std::vector<PieceCounts>> gathered(plans_.size());
  std::vector<Problem> problems;
  Status status = pieces_.read(range, step_, [&](TimeRange of) {
    const bool begin = of.begin == range.begin;
    Piece piece;
    piece.range = of;
    piece.first = first && begin;
    piece.late_from = begin && sweep ? of.begin - remembered_ : of.begin;
    const Duration look_back =
        sweep || !begin ? settings_.longest_sweep : settings_.longest_request;
    if (Status read = read_piece(piece, look_back, session); !read) return read;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      gathered[i].push_back(std::move(piece.signals[i]));
    }
    for (const auto& [id, end] : piece.counted) next_.seen.add(id, end);
    add_problems(piece, problems);
    return ok();
  });
  if (!status) return std::move(status).error();
  next_.read_until = range.end;
  next_.seen.keep_from(range.end - remembered_);
  Fetch fetch;
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    fetch.batches.push_back(
        PieceCounts::join(gathered[i], range, step_, counter_->cells(i).size()));
  }
  for (const std::string& column : absent_) {
    problems.push_back({"missing_column", fmt::format("{}.{}", counter_->table().name, column),
                        "the table has no such column: what it would tell is unknown"});
  }
  fetch.problems = counter_->take_problems();
  fetch.problems.insert(fetch.problems.end(), problems.begin(), problems.end());
  fetch.facts = counter_->facts();
  fetch.evidence = counter_->take_evidence();
  return fetch;
}

void EventTableReader::commit() { memory_ = std::move(next_); }

void EventTableReader::save(Writer& writer) const {
  writer.u64(memory_.read_until ? 1 : 0);
  if (!memory_.read_until) return;
  writer.i64(unix_ms(*memory_.read_until));
  writer.i64(unix_ms(memory_.swept_at));
  memory_.seen.save(writer);
}

bool EventTableReader::load(Reader& reader) {
  memory_ = {};
  if (reader.u64() == 0) return reader.ok();
  Memory loaded;
  loaded.read_until = from_unix_ms(reader.i64());
  loaded.swept_at = from_unix_ms(reader.i64());
  if (!loaded.seen.load(reader)) return false;
  memory_ = std::move(loaded);
  return true;
}

}  // namespace outcomed
