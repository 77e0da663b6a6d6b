// Raw samples on their way from a decoder (JSON, XOR chunks, text pages) to the counting.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "queries/base/labels.h"

namespace outcomed {

struct Sample {
  std::int64_t at_ms = 0;  // The sample's own time, Unix milliseconds.
  double value = 0;        // NaN stands for "stale" and is passed on.
  friend bool operator==(const Sample&, const Sample&) = default;
};

using SeriesId = std::uint32_t;

// Takes samples series by series. A decoder opens a series and appends its samples in time order;
// it may open the same series several times (chunks of a stream).
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  // `key` identifies the series within its source, byte for byte the same each time (for instance
  // the raw JSON text of its label object). `labels` is called only for a key not seen before; it
  // gives all labels, "__name__" among them.
  virtual SeriesId open(std::string_view key, const std::function<Labels()>& labels) = 0;
  virtual void append(SeriesId series, std::span<const Sample> samples) = 0;
};

}  // namespace outcomed
