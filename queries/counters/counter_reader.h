// Raw counter samples -> exact integer increments -> buckets of signals. The heart of correctness:
// resets, births, gaps, several processes behind one target are settled here, once, before any sum.
// The rules and what each of them assumes stand in docs/counting.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "queries/base/codec.h"
#include "queries/counters/samples.h"
#include "queries/signal.h"
#include "queries/source.h"

namespace outcomed {

// Besides the counters, sources read these two for each target, and append them like any series:
// process_start_time_seconds tells processes apart; up = 1 says that the target was scraped, even
// where it had no counter to show yet (so that what appears later was born since). Sources that
// read pages themselves add the `up` of each page, with the labels of its target.
inline constexpr std::string_view kProcessStartMetric = "process_start_time_seconds";
inline constexpr std::string_view kUpMetric = "up";

// Use: begin(range); any number of open/append for the selectors wanted; finish(). What was
// appended and not finished is forgotten by the next begin, and the memory is as before.
class CounterReader final : public SampleSink {
 public:
  explicit CounterReader(std::vector<SignalPlan> plans);
  ~CounterReader() override;

  // Every counter that the signals and calibrations need, each once; without the two above.
  [[nodiscard]] const std::vector<Selector>& selectors() const;
  // The step shared by all signals of the source.
  [[nodiscard]] Duration step() const;

  // Samples with begin < at <= end are counted; earlier ones only tell where a series stood.
  void begin(TimeRange range);
  SeriesId open(std::string_view key, const std::function<Labels()>& labels) override;
  void append(SeriesId series, std::span<const Sample> samples) override;
  Fetch finish();

  [[nodiscard]] const std::vector<Labels>& cells(std::size_t signal) const;
  void seed_cells(std::size_t signal, const std::vector<Labels>& cells);

  // Jobs of the targets that showed a wanted counter (label `job`), sorted: lets a source narrow
  // its questions for the two metrics above. Empty while none is known.
  [[nodiscard]] std::vector<std::string> jobs() const;

  // save(): processes, calibration and, where `with_series`, the last value of each series (for
  // sources that can't ask for the past again).
  void save(Writer& writer, bool with_series) const;
  bool load(Reader& reader);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace outcomed
