// The memory of one group of a baseline rule: the open day, and what the rule remembers.
#pragma once

#include <string>
#include <vector>

#include "detectors/baseline/day_rule.h"
#include "detectors/local_days.h"

namespace outcomed {

class BaselineFold final : public Fold {
 public:
  BaselineFold(const BaselineDetector& detector, Labels group);

  void advance(const BucketRun& run, std::size_t step) override;
  void add_member(const Labels& member) override;
  [[nodiscard]] bool breached() const override { return judgement_ == Judgement::breached; }
  // Of the last judged day: it holds until the next one is over.
  [[nodiscard]] Judgement judgement(std::size_t) const override { return judgement_; }
  [[nodiscard]] Timestamp onset() const override;
  [[nodiscard]] Verdict verdict(std::size_t tier) const override;
  [[nodiscard]] bool idle() const override;
  void save(Writer& writer) const override;
  bool load(Reader& reader) override;

 private:
  // Counts of the open day: one for each member, or one in all without restart_on.
  struct Sums {
    std::int64_t n = 0;
    std::int64_t k = 0;
  };
  [[nodiscard]] bool add_counts(const BucketRun& run, std::size_t step);
  void close_day();
  [[nodiscard]] std::size_t busiest() const;
  [[nodiscard]] std::string sentence() const;
  [[nodiscard]] std::string unjudged() const;
  void add_facts(Verdict& verdict) const;

  const BaselineDetector* detector_;
  Labels group_;
  std::vector<Labels> members_;
  LocalDays days_;
  std::vector<Sums> open_;
  DayRule rule_;
  // The last day that is over.
  Judgement judgement_ = Judgement::too_few;
  std::int64_t closed_ = 0;
  bool any_closed_ = false;
  bool judged_ = false;
  double seen_ = 0;
  Sums sums_;
  std::size_t member_ = 0;
  DayFinding finding_;
};

}  // namespace outcomed
