// Tables of events, one row each, from which several signals are counted at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "queries/base/labels.h"
#include "queries/base/sql_client.h"
#include "queries/base/time.h"
#include "queries/source.h"

namespace outcomed {

struct RowColumn {
  std::string name;        // Of the table's column that is read.
  std::string expression;  // What of it is wanted, in SQL; empty: the column itself.
  // Tables of some versions lack it: NULL is read instead, and the source says so once.
  bool optional = false;
};

struct RowTable {
  std::string name;   // "LiteLLM_SpendLogs", as it is spelt, without quotes.
  std::string id;     // Column that tells rows apart.
  std::string begin;  // Column with the time the event began; the table has an index on it.
  std::string end;    // Column with the time it ended. Times without zone are UTC.
  std::vector<RowColumn> columns;
};

// What a row adds to one cell of one signal.
struct RowCount {
  std::size_t signal = 0;
  CellId cell = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};

// Reads rows of one table; made for the signals that are counted from it (their labels already
// narrowed to those in use). Pure but for its memory of label sets.
class RowCounter {
 public:
  virtual ~RowCounter() = default;
  [[nodiscard]] virtual const RowTable& table() const = 0;
  // `row` holds the values of table().columns; `id` and `end` those of the row. Appends to
  // `counts`.
  virtual void count(std::string_view id, Timestamp end, SqlRow row,
                     std::vector<RowCount>& counts) = 0;
  [[nodiscard]] virtual const std::vector<Labels>& cells(std::size_t signal) const = 0;
  virtual void seed_cells(std::size_t signal, const std::vector<Labels>& cells) = 0;
  // What a person should know of the rows counted since the last call.
  virtual std::vector<Problem> take_problems() = 0;
  // Single events worth naming among those counted since the last call; a bounded number.
  virtual std::vector<Evidence> take_evidence() { return {}; }
  [[nodiscard]] virtual std::vector<std::string> facts() const = 0;
};

}  // namespace outcomed
