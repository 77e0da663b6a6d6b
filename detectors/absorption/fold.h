// The memory of one group of an absorption rule.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "detectors/absorption/absorption.h"

namespace outcomed {

class AbsorptionFold final : public Fold {
 public:
  AbsorptionFold(const AbsorptionDetector& detector, Labels group);

  void add_member(const Labels& member) override;
  void advance(const BucketRun& run, std::size_t step) override;
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
  struct Slot {
    SideCounts counts;
    bool known = true;
  };
  struct HourSlot {
    std::int64_t hour = -1;  // Hours since the epoch; −1: empty.
    std::int64_t unknown_ms = 0;
    SideCounts counts;
  };
  struct ToldHours {
    int provider_fails = 0;
    int absorbed = 0;
    int failure_free = 0;  // Of those in which the provider fails.
  };
  void push(const Slot& slot);
  void judge(Timestamp start);
  // The step that lies `back` steps before the newest; back < slots_.size().
  [[nodiscard]] const Slot& slot(std::size_t back) const;
  [[nodiscard]] Timestamp most_likely_onset(Timestamp newest) const;
  [[nodiscard]] ToldHours told_hours() const;
  [[nodiscard]] std::string sentence(const Verdict& verdict) const;
  void add_facts(Verdict& verdict) const;

  const AbsorptionDetector* detector_;
  Labels group_;
  std::vector<std::string> sides_;  // Of the members, in their order.
  std::vector<SideCounts::Place> places_;
  std::vector<Slot> slots_;  // A ring as long as the window.
  std::size_t limit_;
  std::size_t next_ = 0;
  Attribution attribution_;
  SideCounts sum_;
  std::int64_t unknown_steps_ = 0;  // In the window.
  AbsorptionJudgement now_;
  Coverage coverage_ = Coverage::missing;
  Timestamp at_;
  Timestamp onset_;        // Of the present breach, or of the last one.
  bool breached_ = false;  // After the last complete bucket.
  std::array<HourSlot, 25> hours_{};
};

}  // namespace outcomed
