// Small files and plans for the tests of recordings.
#pragma once

#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "queries/signal.h"
#include "queries/source.h"
#include "tests/support/temp_folder.h"

namespace outcomed::testing {

// A folder of one test, removed at its end.
class RecordingFolder {
 public:
  [[nodiscard]] std::string path() const { return std::filesystem::path(folder_.path()).string(); }
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (std::filesystem::path(folder_.path()) / name).string();
  }

 private:
  TempFolder folder_;
};

inline void write_file(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline void write_gzip(const std::string& path, std::string_view text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

// A signal of two counters: fails_total{model,why} of asks_total{model}.
inline SignalPlan counter_plan() {
  const auto labels = [](const Labels& raw) -> std::optional<Labels> {
    return raw.project({"model", "why"});
  };
  SignalPlan plan;
  plan.name = "asks";
  plan.labels = {"model"};
  plan.failure_labels = {"why"};
  plan.terms = {{{"asks_total", {}}, 1, true, false, false, labels},
                {{"fails_total", {}}, 1, false, true, false, labels}};
  return plan;
}

// n or k of one cell in one step; 0 where there is no such cell.
inline std::int64_t cell_value(const Source& source, const SignalBatch& batch, std::size_t signal,
                               const Labels& labels, std::size_t step,
                               const std::vector<std::int64_t>& values) {
  const std::vector<Labels>& cells = source.cells(signal);
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    if (cells[cell] == labels) return values[cell * batch.steps() + step];
  }
  return 0;
}

inline std::int64_t total(const std::vector<std::int64_t>& values) {
  std::int64_t sum = 0;
  for (const std::int64_t value : values) sum += value;
  return sum;
}

}  // namespace outcomed::testing
