// Several signals counted from one table of events, each row once. The table has an index on the
// time an event began only, and rows appear when it ended, some of them late:
//   every tick    rows that ended in the range, begun at most longest_request before it
//   now and then  also rows that ended up to 1.5 late_rows before it, begun up to longest_sweep
//                 before that: those not counted yet are late, or took long, and count into the
//                 first step
// Which rows were counted is remembered by a hash of their id, for as long as a sweep looks back.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "queries/postgres/piece_counts.h"
#include "queries/postgres/pieces.h"
#include "queries/postgres/seen_rows.h"
#include "queries/postgres/session.h"
#include "queries/rows.h"
#include "queries/signal.h"

namespace outcomed {

class EventTableReader {
 public:
  // `plans` have one step and the same `rows`.
  EventTableReader(const PostgresSettings& settings, std::vector<SignalPlan> plans);

  // Batches in the order of the plans. Until commit() the memory is what it was.
  Result<Fetch> read(TimeRange range, PostgresSession& session);
  void commit();

  [[nodiscard]] const std::vector<Labels>& cells(std::size_t signal) const {
    return counter_->cells(signal);
  }
  void seed_cells(std::size_t signal, const std::vector<Labels>& cells) {
    counter_->seed_cells(signal, cells);
  }
  void save(Writer& writer) const;
  bool load(Reader& reader);

  // Rows that the server sent, since the start: for tests and benchmarks.
  [[nodiscard]] std::uint64_t rows_read() const { return rows_read_; }

 private:
  struct Memory {
    SeenRows seen;
    std::optional<Timestamp> read_until;
    Timestamp swept_at{};
  };
  struct Piece {  // While it is read.
    TimeRange range;
    Timestamp late_from;  // Rows that ended from here on are looked at; range.begin without sweep.
    bool first = false;   // What ended before the range was counted by somebody else.
    std::vector<PieceCounts> signals;
    std::vector<std::pair<std::uint64_t, Timestamp>> counted;
    std::unordered_set<std::uint64_t> ids;
    std::uint64_t late = 0;
    std::uint64_t without_time = 0;
  };

  [[nodiscard]] SqlQuery statement(const Piece& piece, Duration look_back) const;
  Status learn_columns(PostgresSession& session);
  Status read_piece(Piece& piece, Duration look_back, PostgresSession& session);
  void take_row(Piece& piece, SqlRow row);
  void add_problems(const Piece& piece, std::vector<Problem>& problems) const;

  const PostgresSettings settings_;
  const std::vector<SignalPlan> plans_;
  const Duration step_;
  const Duration remembered_;  // With sweeps every late_rows / 2 none is missed.
  std::unique_ptr<RowCounter> counter_;
  SqlPieces pieces_;
  Memory memory_;
  Memory next_;         // What commit() makes the memory.
  std::string select_;  // Empty until the table's columns are known.
  std::vector<std::string> absent_;
  std::vector<RowCount> counts_;
  std::uint64_t rows_read_ = 0;
};

}  // namespace outcomed
