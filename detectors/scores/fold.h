// The memory of one group of a scores rule: the open day, and what the rule remembers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "detectors/local_days.h"
#include "detectors/scores/score_rule.h"

namespace outcomed {

class ScoresFold final : public Fold {
 public:
  // More distinct scores than this are taken to the nearest of those that came first.
  static constexpr std::size_t kMostScores = 128;

  ScoresFold(const ScoresDetector& detector, Labels group);

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
  static constexpr std::size_t kNoScore = ~std::size_t{0};

  [[nodiscard]] bool add_counts(const BucketRun& run, std::size_t step);
  void close_day();
  [[nodiscard]] std::string sentence() const;
  [[nodiscard]] std::string unjudged() const;
  void add_facts(Verdict& verdict) const;

  const ScoresDetector* detector_;
  Labels group_;
  std::vector<std::string> members_;      // Their labels' texts.
  std::vector<std::size_t> score_of_;     // By member; kNoScore: not a number.
  std::vector<double> scores_;            // In the order of appearance.
  std::map<double, std::size_t> places_;  // Of each in scores_.
  LocalDays days_;
  std::vector<std::int64_t> open_;  // Counts of the open day, by scores_.
  std::int64_t open_without_score_ = 0;
  ScoreRule rule_;
  // The last day that is over.
  Judgement judgement_ = Judgement::too_few;
  std::int64_t closed_ = 0;
  bool any_closed_ = false;
  bool judged_ = false;
  double seen_ = 0;
  std::int64_t n_ = 0;
  std::int64_t without_score_ = 0;
  ScoreFinding finding_;
};

}  // namespace outcomed
