// A recording in one OpenMetrics text file with timestamps, as `promtool tsdb create-blocks-from
// openmetrics` reads it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "queries/counters/counter_reader.h"
#include "queries/recording/sample_store.h"
#include "queries/source.h"

namespace outcomed {

// The file is read once, at the first use; only the counters that the signals need are kept,
// packed.
class OpenMetricsRecording final : public Source {
 public:
  // More kept than this is refused.
  static constexpr std::size_t kMaxKeptBytes = std::size_t{2} << 30;

  OpenMetricsRecording(std::string path, std::vector<SignalPlan> plans);

  Result<Fetch> fetch(TimeRange range) override;
  [[nodiscard]] const std::vector<Labels>& cells(std::size_t signal) const override;
  void seed_cells(std::size_t signal, const std::vector<Labels>& cells) override;
  Result<std::optional<TimeRange>> span() override;
  void save(Writer& writer) const override;
  bool load(Reader& reader) override;

 private:
  struct Column {
    SeriesId series = 0;
    SampleColumn samples;
    SampleColumn::Cursor cursor;
    std::optional<Sample> ahead;  // Read, but later than the range fetched last.
  };

  Status open();
  Status read();
  void tidy();
  void rewind();
  void feed(Column& column, TimeRange range);

  std::string path_;
  CounterReader counters_;
  std::optional<Status> opened_;
  std::vector<Column> columns_;
  std::vector<Problem> problems_;  // Found while reading; told once.
  std::int64_t first_ms_ = 0;
  std::int64_t last_ms_ = 0;
  std::int64_t position_ms_ = 0;  // End of the range fetched last.
  std::vector<Sample> batch_;
};

}  // namespace outcomed
