// The rows of a CSV recording, checked one by one: the first half of read_bucket_rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "queries/base/result.h"
#include "queries/signal.h"

namespace outcomed {

// Faults of a file, told all at once in the order of its lines.
class CsvFaults {
 public:
  explicit CsvFaults(std::string file) : file_(std::move(file)) {}

  void add(std::size_t line, std::size_t column, std::string_view what) {
    faults_.emplace_back(line, column, what);
  }
  [[nodiscard]] bool none() const { return faults_.empty(); }
  // invalid: "FILE:LINE:COLUMN: what", one a line, at most 20.
  [[nodiscard]] Error error();

 private:
  std::string file_;
  std::vector<std::tuple<std::size_t, std::size_t, std::string>> faults_;
};

// The label values of rows, each combination once.
class ValueSets {
 public:
  using Values = std::vector<std::string>;  // In the order of the label columns.

  std::uint32_t intern(const std::vector<std::string_view>& values);
  [[nodiscard]] const Values& at(std::uint32_t id) const { return sets_[id]; }
  [[nodiscard]] std::size_t size() const { return sets_.size(); }

 private:
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<Values> sets_;
  std::string key_;
};

struct CsvRow {
  std::int64_t step = 0;  // Steps of the signal since the epoch.
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::uint32_t labels = 0;  // Id in ValueSets.
  std::uint32_t line = 0;
};

struct CsvRows {
  struct Seen {
    std::size_t count = 0;
    std::size_t first_line = 0;
  };
  std::vector<std::string> label_names;  // Of the label columns.
  ValueSets sets;
  std::vector<std::vector<CsvRow>> rows;  // By signal, in the order of the file.
  std::vector<Seen> moved;                // By signal: rows whose start lay off the grid.
  std::map<std::string, Seen> unknown;    // Rows of signals that aren't declared.
  std::size_t count = 0;
};

CsvRows read_csv_rows(std::string_view text, const std::vector<SignalPlan>& plans,
                      CsvFaults& faults);

}  // namespace outcomed
