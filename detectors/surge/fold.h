// The memory of one group of a surge rule: one series, and with `across` one for each member.
#pragma once

#include <string>
#include <vector>

#include "detectors/surge/series.h"
#include "detectors/surge/surge.h"

namespace outcomed {

class SurgeFold final : public Fold {
 public:
  SurgeFold(const SurgeDetector& detector, Labels group);

  void advance(const BucketRun& run, std::size_t step) override;
  std::size_t advance_to_breach(const BucketRun& run, std::size_t from) override;
  void add_member(const Labels& labels) override;
  [[nodiscard]] bool breached() const override {
    return coverage_ == Coverage::complete && failing_;
  }
  [[nodiscard]] Judgement judgement(std::size_t tier) const override;
  [[nodiscard]] Timestamp onset() const override;
  [[nodiscard]] Verdict verdict(std::size_t tier) const override;
  [[nodiscard]] bool idle() const override;
  void save(Writer& writer) const override;
  bool load(Reader& reader) override;

  [[nodiscard]] const SurgeSeries& series() const { return total_; }

 private:
  struct Member {
    Labels labels;
    SurgeSeries series;
  };

  void advance_members(const BucketRun& run, std::size_t step);
  void judge_together();
  // Latched ones, those that fail first; empty without `across`.
  [[nodiscard]] std::vector<const Member*> failing_members() const;
  [[nodiscard]] std::string sentence(const Verdict& verdict) const;
  [[nodiscard]] std::string counts(const Verdict& verdict) const;
  [[nodiscard]] std::string normal_words() const;
  [[nodiscard]] std::string chance_words() const;
  [[nodiscard]] std::string learned_words() const;
  void add_facts(Verdict& verdict) const;

  const SurgeDetector* detector_;
  Labels group_;
  SurgeSeries total_;
  std::vector<Member> members_;
  Coverage coverage_ = Coverage::missing;
  Timestamp at_;
  bool failing_ = false;
};

}  // namespace outcomed
