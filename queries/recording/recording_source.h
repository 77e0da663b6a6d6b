// A recording read like a source: replayed by `backtest --recording`, or declared with
// `kind: recording`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "queries/base/params.h"
#include "queries/source.h"

namespace outcomed {

struct RecordingSettings {
  std::string path;

  void visit(ParamVisitor& visitor);
};

// What a path holds, told by its name and kind: a folder holds pages, .csv buckets, .om
// OpenMetrics; the files may be gzip (.csv.gz, .om.gz). Errors: invalid.
enum class RecordingForm { openmetrics, pages, buckets };
Result<RecordingForm> recording_form(const std::string& path);

// Nothing is read before the first span(), fetch() or load(). One source serves all signals given:
// those of counters from pages and OpenMetrics, any from CSV, by name.
class RecordingSource final : public Source {
 public:
  RecordingSource(RecordingSettings settings, std::vector<SignalPlan> plans);

  Result<Fetch> fetch(TimeRange range) override;
  [[nodiscard]] const std::vector<Labels>& cells(std::size_t signal) const override;
  void seed_cells(std::size_t signal, const std::vector<Labels>& cells) override;
  Result<std::optional<TimeRange>> span() override;
  void save(Writer& writer) const override;
  bool load(Reader& reader) override;

 private:
  Status open();

  RecordingSettings settings_;
  std::vector<SignalPlan> plans_;
  std::unique_ptr<Source> recording_;
};

}  // namespace outcomed
