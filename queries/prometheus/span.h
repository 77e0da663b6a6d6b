// The samples wanted from a stream that brings whole chunks or blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "queries/base/time.h"
#include "queries/counters/samples.h"

namespace outcomed {

// Closed at both ends, Unix milliseconds.
struct SampleSpan {
  std::int64_t begin_ms = 0;
  std::int64_t end_ms = 0;

  [[nodiscard]] bool contains(std::int64_t at_ms) const {
    return begin_ms <= at_ms && at_ms <= end_ms;
  }
  // The part of samples in time order that lies inside.
  [[nodiscard]] std::span<const Sample> clip(std::span<const Sample> samples) const {
    if (samples.empty()) return samples;
    if (contains(samples.front().at_ms) && contains(samples.back().at_ms)) return samples;
    const auto first = std::ranges::lower_bound(samples, begin_ms, {}, &Sample::at_ms);
    const auto last = std::ranges::upper_bound(first, samples.end(), end_ms, {}, &Sample::at_ms);
    return {first, last};
  }
};

inline SampleSpan closed_span(TimeRange range) {
  return {unix_ms(range.begin), unix_ms(range.end)};
}

}  // namespace outcomed
