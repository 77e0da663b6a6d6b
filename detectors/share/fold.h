// The memory of one group of a share rule.
#pragma once

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

  ShareFold(const ShareDetector& detector, Labels group);

  void advance(const Bucket& bucket) override;
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
  [[nodiscard]] bool beyond(double line) const;
  [[nodiscard]] bool enough_failures() const;
  void track_evidence(const Bucket& bucket);
  void track_onset(const Bucket& bucket);
  [[nodiscard]] Timestamp most_likely_onset(const Bucket& newest) const;
  void learn(const Bucket& bucket);
  [[nodiscard]] std::string sentence(const Verdict& verdict) const;

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
  std::array<NormalHour, 25> hours_{};
};

}  // namespace outcomed
