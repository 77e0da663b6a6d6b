// A recording in a CSV file of buckets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "queries/recording/bucket_rows.h"
#include "queries/source.h"

namespace outcomed {

// Serves signals by name. The file is read at the first use. A step in which a signal has no row is
// missing; a cell without a row in a step that has others stands at 0.
class CsvRecording final : public Source {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{2} << 30;

  CsvRecording(std::string path, std::vector<SignalPlan> plans);

  Result<Fetch> fetch(TimeRange range) override;
  [[nodiscard]] const std::vector<Labels>& cells(std::size_t signal) const override;
  Result<std::optional<TimeRange>> span() override;
  void save(Writer&) const override {}
  bool load(Reader&) override { return true; }  // All of it is in the file.

 private:
  Status open();
  Status read();
  [[nodiscard]] SignalBatch batch(std::size_t signal, TimeRange range) const;

  std::string path_;
  std::vector<SignalPlan> plans_;
  std::optional<Status> opened_;
  BucketRows buckets_;
};

}  // namespace outcomed
