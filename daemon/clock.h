#pragma once

#include <stop_token>

#include "queries/base/time.h"

namespace outcomed {

using SteadyTime = std::chrono::steady_clock::time_point;

// The one way to learn the time. Stamp with now(); measure with steady_now().
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Timestamp now() const = 0;
  [[nodiscard]] virtual SteadyTime steady_now() const = 0;
  // Returns false if asked to stop before `until`.
  virtual bool sleep_until(SteadyTime until, std::stop_token stop) = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Timestamp now() const override;
  [[nodiscard]] SteadyTime steady_now() const override;
  bool sleep_until(SteadyTime until, std::stop_token stop) override;
};

}  // namespace outcomed
