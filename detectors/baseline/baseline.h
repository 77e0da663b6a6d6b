// Kind `baseline`: the share of a day against what was normal on the days before.
//
// Two rules on each day with items, in the time zone of the rule:
//   halving   share < falls_to x median of the last baseline_days (or share > rises_to x median),
//             and chance alone does that to a normal day less than once in 1000 days:
//             P(K <= k | BB(n, p, high rho + v)) < 1/1000 (level_watch.h);
//   evidence  the mean of Shiryaev-Roberts sums over several lower (higher) shares reaches
//             A = false_page_every in days: mean time between false alarms at least A.
// p and rho come from twice baseline_days, before the days that the evidence runs through.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "detectors/day_settings.h"
#include "detectors/detector.h"

namespace outcomed {

struct BaselineParams {
  std::optional<double> falls_to = 0.5;
  std::string rises_to;  // "200%"; empty: rises are left to the evidence.
  std::string direction = "both";
  std::vector<std::string> restart_on;
  DaySettings days;

  void visit(ParamVisitor& visitor, const SignalWords& words);
};

class BaselineDetector final : public Detector {
 public:
  static constexpr std::string_view kKind = "baseline";
  static constexpr std::string_view kSummary =
      "the share of a day fell to half of its median, or left its normal level more slowly";

  BaselineDetector(BaselineParams params, SignalWords words);

  [[nodiscard]] std::unique_ptr<Fold> start(const Labels& group) const override;
  [[nodiscard]] const std::vector<Tier>& tiers() const override { return tiers_; }
  [[nodiscard]] std::vector<std::string> member_labels() const override {
    return params_.restart_on;
  }
  [[nodiscard]] Duration reach() const override {
    return (params_.days.normal_days() + 1) * DaySettings::kDay;
  }
  [[nodiscard]] Duration patience() const override {
    return params_.days.baseline_days * DaySettings::kDay;
  }
  [[nodiscard]] bool long_memory() const override { return true; }

  [[nodiscard]] const BaselineParams& params() const { return params_; }
  [[nodiscard]] const DaySettings& days() const { return params_.days; }
  [[nodiscard]] const SignalWords& words() const { return words_; }
  [[nodiscard]] const std::shared_ptr<const TimeZone>& zone() const { return zone_; }
  [[nodiscard]] std::optional<double> rises_to() const { return rises_to_; }
  [[nodiscard]] bool watches_falls() const { return params_.direction != "rises"; }
  [[nodiscard]] bool watches_rises() const { return params_.direction != "falls"; }

 private:
  BaselineParams params_;
  SignalWords words_;
  std::shared_ptr<const TimeZone> zone_;  // Null: UTC.
  std::optional<double> rises_to_;
  std::vector<Tier> tiers_;
};

}  // namespace outcomed
