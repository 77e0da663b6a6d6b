// The `surge` rule under the bench: its fold, fed minutes.
#pragma once

#include <memory>

#include "detectors/surge/fold.h"
#include "watch.h"

namespace outcomed::bench {

// A midnight.
inline constexpr Timestamp kStart = from_unix_ms(1'795'996'800'000);

// Settings of a surge rule over minutes.
std::shared_ptr<const SurgeDetector> surge_rule(std::int64_t false_page_minutes,
                                                double min_share = SurgeParams::kUsualFloor);

class SurgeWatch final : public Watch {
 public:
  explicit SurgeWatch(std::shared_ptr<const SurgeDetector> detector)
      : detector_(std::move(detector)), fold_(detector_->start({})) {}

  bool minute(std::int64_t n, std::int64_t k) override { return minute(n, k, Coverage::complete); }
  bool minute(std::int64_t n, std::int64_t k, Coverage coverage) {
    fold_->advance({at_, std::chrono::minutes(1), {&n, 1}, {&k, 1}, {&coverage, 1}}, 0);
    at_ += std::chrono::minutes(1);
    return fold_->breached();
  }
  [[nodiscard]] std::unique_ptr<Watch> copy() const override;
  [[nodiscard]] Timestamp onset() const { return fold_->onset(); }
  [[nodiscard]] Timestamp now() const { return at_; }
  [[nodiscard]] const SurgeSeries& series() const {
    return static_cast<const SurgeFold&>(*fold_).series();
  }

 private:
  std::shared_ptr<const SurgeDetector> detector_;
  std::unique_ptr<Fold> fold_;
  Timestamp at_ = kStart;
};

}  // namespace outcomed::bench
