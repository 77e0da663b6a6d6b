// One signal asked in the user's SQL: columns at, n, k, then labels.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "queries/postgres/piece_counts.h"
#include "queries/postgres/pieces.h"
#include "queries/postgres/session.h"
#include "queries/postgres/sql_text.h"
#include "queries/signal.h"
#include "queries/source.h"

namespace outcomed {

// Steps of whole days are civil days of the plan's zone, 24 hours long here: :from and :to are
// local midnights, and a row belongs to the step whose begin is nearest to its `at` (off by an hour
// at most while clocks are put forward). Shorter steps are exact, and each row belongs to the step
// that holds its `at`.
//
// Rows of the same step and labels are added up. NULL in n or k is 0, NULL in a label is no label.
// Rows outside the range are left out, rows that can't be counted (NaN, negative, fractions, k
// above n) make their step `failed`; both with a problem. Columns are found by name; others are
// ignored.
class SqlSignal {
 public:
  // Error invalid: the SQL isn't one query with :from and :to.
  static Result<SqlSignal> make(const SignalPlan& plan);

  // Nothing is remembered between calls but the cells.
  Result<SignalBatch> read(TimeRange range, PostgresSession& session,
                           std::vector<Problem>& problems);

  [[nodiscard]] const std::vector<Labels>& cells() const { return cells_; }
  void seed_cells(const std::vector<Labels>& cells);

 private:
  struct Columns {
    std::size_t at = 0;
    std::size_t n = 0;
    std::size_t k = 0;
    std::vector<std::size_t> labels;  // In the order of the plan's.
  };
  struct Piece {
    TimeRange range;
    PieceCounts counts;
    Columns columns;
    std::vector<Problem> problems;
  };

  SqlSignal(const SignalPlan& plan, SqlText sql);

  [[nodiscard]] bool daily() const { return plan_.step % std::chrono::hours(24) == 0ms; }
  [[nodiscard]] Timestamp asked_time(Timestamp begin_of_step) const;
  Status read_piece(Piece& piece, PostgresSession& session);
  Status find_columns(const std::vector<std::string>& names, Columns& columns) const;
  void take_row(Piece& piece, SqlRow row);
  void note(Piece& piece, std::string what, std::string message) const;
  // Which step of the piece; nothing outside.
  [[nodiscard]] std::optional<std::size_t> step_at(const TimeRange& range, Timestamp at) const;
  CellId cell(const Columns& columns, SqlRow row);

  SignalPlan plan_;
  SqlText sql_;
  SqlPieces pieces_;
  std::vector<Labels> cells_;
  std::unordered_map<Labels, CellId, LabelsHash> ids_;
};

}  // namespace outcomed
