// process_* metrics, which prometheus-cpp doesn't bring: read from /proc/self when asked.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/registry.h>

#include <vector>

namespace outcomed {

class ProcessStats final : public prometheus::Collectable {
 public:
  explicit ProcessStats(double started) : started_(started) {}
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  double started_;  // Unix seconds.
};

}  // namespace outcomed
