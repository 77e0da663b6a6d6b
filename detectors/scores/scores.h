// Kind `scores`: the distribution of the day's scores against that of the days before.
//
// At every cut c the share of scores >= c is watched downwards and upwards (level_watch.h), against
// half and a quarter of the worst normal's odds. The plain mean of all Shiryaev-Roberts sums, which
// keeps its promise under any dependence between them, decides at A = false_page_every in days.
// Up to 20 distinct scores: a cut at each; more: 10 cuts at fixed quantiles of the normal days.
// Distances (W1, KS, energy, PSI) are shown; nothing alarms on them.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "detectors/day_settings.h"
#include "detectors/detector.h"

namespace outcomed {

struct ScoresParams {
  std::string score_label = "score";
  std::vector<std::string> cuts;  // Numbers; empty: from the scores.
  DaySettings days;

  void visit(ParamVisitor& visitor, const SignalWords& words);
};

class ScoresDetector final : public Detector {
 public:
  static constexpr std::string_view kKind = "scores";
  static constexpr std::string_view kSummary =
      "the distribution of a day's scores left its normal shape";
  static constexpr std::size_t kMostCuts = 20;

  ScoresDetector(ScoresParams params, SignalWords words);

  [[nodiscard]] std::unique_ptr<Fold> start(const Labels& group) const override;
  [[nodiscard]] const std::vector<Tier>& tiers() const override { return tiers_; }
  [[nodiscard]] std::vector<std::string> member_labels() const override {
    return {params_.score_label};
  }
  [[nodiscard]] Duration reach() const override {
    return (params_.days.normal_days() + 1) * DaySettings::kDay;
  }
  [[nodiscard]] Duration patience() const override {
    return params_.days.baseline_days * DaySettings::kDay;
  }
  [[nodiscard]] bool long_memory() const override { return true; }
  [[nodiscard]] int memory_version() const override { return 2; }

  [[nodiscard]] const ScoresParams& params() const { return params_; }
  [[nodiscard]] const DaySettings& days() const { return params_.days; }
  [[nodiscard]] const SignalWords& words() const { return words_; }
  [[nodiscard]] const std::shared_ptr<const TimeZone>& zone() const { return zone_; }
  // Ascending; empty: from the scores.
  [[nodiscard]] const std::vector<double>& fixed_cuts() const { return cuts_; }

 private:
  ScoresParams params_;
  SignalWords words_;
  std::shared_ptr<const TimeZone> zone_;  // Null: UTC.
  std::vector<double> cuts_;
  std::vector<Tier> tiers_;
};

// A finite number that is all of the text; nothing for "", "nan", "5 stars".
std::optional<double> parse_score(std::string_view text);

}  // namespace outcomed
