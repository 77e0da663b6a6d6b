// What the detector of one series must know of its rule: plain numbers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "queries/base/time.h"

namespace outcomed {

struct SurgeSettings {
  Duration step = std::chrono::minutes(1);            // Of a bucket.
  Duration false_page_every = std::chrono::days(90);  // Of one series.
  Duration learn = std::chrono::days(14);
  double min_share = 0.02;
  double quantile = 0.997;       // Of the shares of hours: the ceiling.
  double busy_quantile = 0.999;  // The same from 50 requests a minute on.

  static constexpr std::int64_t kHourMs = 3'600'000;
  static constexpr std::int64_t kDayMs = 24 * kHourMs;

  [[nodiscard]] std::int64_t step_ms() const { return std::max<std::int64_t>(1, step.count()); }
  // A block of the learning window: an hour, or as many whole steps as reach beyond it.
  [[nodiscard]] std::int64_t block_ms() const {
    return (kHourMs + step_ms() - 1) / step_ms() * step_ms();
  }
  [[nodiscard]] std::size_t window_blocks() const {
    return static_cast<std::size_t>(std::max<std::int64_t>(1, learn.count() / block_ms()));
  }
  [[nodiscard]] std::size_t window_days() const {
    return static_cast<std::size_t>(std::max<std::int64_t>(1, learn.count() / kDayMs));
  }
  // Steps that make an hour; at least one.
  [[nodiscard]] std::size_t hour_steps() const {
    return static_cast<std::size_t>(std::max<std::int64_t>(1, kHourMs / step_ms()));
  }
};

}  // namespace outcomed
