// VictoriaMetrics' /api/v1/export: one JSON object a line and series,
//   {"metric":{"__name__":"x","job":"y"},"values":[1,2,null],"timestamps":[1796008150000,…]}
// asked for without reduce_mem_usage, which would bring blocks of one series split and out of
// order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "queries/base/result.h"
#include "queries/counters/samples.h"
#include "queries/prometheus/sample_text.h"
#include "queries/prometheus/span.h"

namespace outcomed {

// Takes the body piece by piece, as it arrives, in pieces of any size, and decodes each line when
// it is whole. Keys are the JSON text of the `metric` object; null, which stands for stale, becomes
// NaN. Error corrupt, after which the sink may hold a part: a line is no such object, its arrays
// differ in length, a number or time is none, times fall, or the body ends inside a line.
class VmExportDecoder {
 public:
  VmExportDecoder(SampleSink& sink, SampleSpan span) : sink_(sink), span_(span) {}

  Status feed(std::string_view piece);
  Status finish();

  [[nodiscard]] std::uint64_t series() const { return series_; }
  [[nodiscard]] std::uint64_t samples() const { return sample_count_; }

 private:
  Status read_line(std::string_view line);
  Status append_series(std::string_view metric);

  SampleSink& sink_;
  SampleSpan span_;
  std::string buffer_;  // From the beginning of the present line.
  std::uint64_t series_ = 0;
  std::uint64_t sample_count_ = 0;
  LabelParser labels_;
  std::string padded_;  // A label object with room for the parser.
  std::vector<double> values_;
  std::vector<std::int64_t> times_;
  std::vector<Sample> samples_;
};

}  // namespace outcomed
