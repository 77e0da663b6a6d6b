// The memory of one group of a share rule.
#pragma once

#include <algorithm>
#include <array>

#include "detectors/share/share.h"
#include "detectors/share/window.h"

namespace outcomed {

// What was normal: counts of the last whole hours in which the rule saw no breach.
struct NormalHour {
  std::int64_t hour = -1;  // Hours since the epoch; −1: empty.
  std::int64_t n = 0;
  std::int64_t k = 0;
};

class ShareFold final : public Fold {
 public:
  static constexpr Duration kNormalSpan = std::chrono::hours(24);
  static constexpr std::int64_t kHourMs = 3'600'000;
  static constexpr std::size_t kHours = 25;  // The last 24 and the present one.

  ShareFold(const ShareDetector& detector, Labels group);

  void advance(const BucketRun& run, std::size_t step) override { take(run[step]); }
  std::size_t advance_to_breach(const BucketRun& run, std::size_t from) override;
  void prefetch() const override {
    window_.prefetch();
    __builtin_prefetch(&hours_[slot_of(at_)], 1);
  }
  [[nodiscard]] bool breached() const override {
    return breached_ && coverage_ == Coverage::complete;
  }
  [[nodiscard]] Judgement judgement(std::size_t tier) const override;
  [[nodiscard]] Timestamp onset() const override { return onset_; }
  [[nodiscard]] Verdict verdict(std::size_t tier) const override;
  [[nodiscard]] bool idle() const override;
  void save(Writer& writer) const override;
  bool load(Reader& reader) override;

 private:
  struct Normal {
    double highest = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    int hours = 0;
  };
  [[nodiscard]] Normal normal() const;
  [[nodiscard]] Timestamp most_likely_onset(const Bucket& newest) const;
  [[nodiscard]] std::string sentence(const Verdict& verdict) const;
  [[nodiscard]] std::string amount(std::int64_t count) const;

  [[nodiscard]] static std::size_t slot_of(Timestamp time) {
    return static_cast<std::size_t>(unix_ms(time) / kHourMs) % kHours;
  }
  // In the class, to be inlined: these run for every group and step.
  [[nodiscard]] bool beyond(double line) const {
    const auto n = static_cast<double>(window_.n());
    const auto k = static_cast<double>(window_.k());
    // A line of 0.1 is not a binary fraction: 10 of 100 must not be above it by rounding.
    const double edge = line * n;
    const double slack = 1e-9 * std::max(1.0, edge);
    return detector_->is_below() ? k < edge - slack : k > edge + slack;
  }
  [[nodiscard]] bool enough_failures() const {
    return detector_->is_below() || window_.k() >= detector_->params().min_failures;
  }
  void take(const Bucket& bucket) {
    at_ = bucket.end();
    coverage_ = bucket.coverage;
    if (bucket.coverage != Coverage::complete) {
      window_.push(0, 0);  // The step passes; what happened in it is not known.
      return;
    }
    window_.push(bucket.n, bucket.k);
    crossed_ = beyond(detector_->first_line());
    track_evidence(bucket);
    track_onset(bucket);
    learn(bucket);
  }
  void track_evidence(const Bucket& bucket) {
    const auto n = static_cast<double>(bucket.n);
    const auto k = static_cast<double>(bucket.k);
    // Half-way between the line and the good end of the scale.
    const double line = detector_->first_line();
    const double excess = detector_->is_below() ? (1 + line) / 2 * n - k : k - line / 2 * n;
    evidence_ = std::max(0.0, evidence_ + excess);
  }
  // Some tier is breached when the line that is crossed first is.
  void track_onset(const Bucket& bucket) {
    const bool breached =
        crossed_ && enough_failures() && window_.n() >= detector_->params().min_requests;
    if (breached && !breached_) onset_ = most_likely_onset(bucket);
    if (!breached && breached_) evidence_ = 0;  // Over: the next change has evidence of its own.
    breached_ = breached;
  }
  // Hours learn what happened while nothing was wrong; what may belong to a change waits until its
  // evidence is gone, and is thrown away if there was a breach meanwhile.
  void learn(const Bucket& bucket) {
    open_n_ += bucket.n;
    open_k_ += bucket.k;
    tainted_ |= breached_;
    if (evidence_ > 0) return;
    if (!tainted_) {
      const std::int64_t hour = unix_ms(bucket.start) / kHourMs;
      NormalHour& slot = hours_[slot_of(bucket.start)];
      if (slot.hour != hour) slot = {hour, 0, 0};
      slot.n += open_n_;
      slot.k += open_k_;
    }
    open_n_ = open_k_ = 0;
    tainted_ = false;
  }

  const ShareDetector* detector_;
  Labels group_;
  ShareWindow window_;
  Coverage coverage_ = Coverage::missing;
  Timestamp at_;
  Timestamp onset_;        // Of the present breach, or of the last one.
  bool crossed_ = false;   // The window's share lies beyond the first line.
  bool breached_ = false;  // Some tier, after the last complete bucket.
  // CUSUM of failures above half the lowest line; while it is above zero something may be wrong.
  double evidence_ = 0;
  // Counts since that zero: they become normal when the evidence is gone without a breach.
  std::int64_t open_n_ = 0;
  std::int64_t open_k_ = 0;
  bool tainted_ = false;
  std::array<NormalHour, kHours> hours_{};
};

}  // namespace outcomed
