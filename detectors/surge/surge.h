// Kind `surge`: the share left its learned normal range.
//
// Two sequential detectors, averaged (series.h): exponential tilts against the learned ceiling, and
// a filter of the slow wobble. Breached when the evidence reaches `false_page_every` in steps of
// the detector: without change the mean time to a false page of one group is at least that, if what
// was learned holds. docs/rules/surge.md has the formulas with their sources.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detectors/detector.h"
#include "detectors/surge/settings.h"

namespace outcomed {

struct SurgeParams {
  Duration false_page_every = std::chrono::days(90);
  std::optional<double> min_share;  // Unset: kUsualFloor.
  std::int64_t learn_days = 14;
  Duration hold{};
  std::string severity = "page";
  std::vector<std::string> across;

  static constexpr double kUsualFloor = 0.02;

  void visit(ParamVisitor& visitor, const SignalWords& words);
};

class SurgeDetector final : public Detector {
 public:
  static constexpr std::string_view kKind = "surge";
  static constexpr std::string_view kSummary =
      "the share left its learned normal range, within a budget of false pages";

  SurgeDetector(SurgeParams params, SignalWords words);

  [[nodiscard]] std::unique_ptr<Fold> start(const Labels& group) const override;
  [[nodiscard]] const std::vector<Tier>& tiers() const override { return tiers_; }
  [[nodiscard]] std::vector<std::string> member_labels() const override { return params_.across; }
  // The learned normal is in the saved fold; the sums of the last hour are rebuilt from buckets.
  [[nodiscard]] Duration reach() const override {
    return std::chrono::hours(24) * params_.learn_days;
  }
  [[nodiscard]] Duration patience() const override { return std::chrono::hours(1); }
  [[nodiscard]] bool long_memory() const override { return true; }
  [[nodiscard]] int memory_version() const override { return 2; }

  [[nodiscard]] const SurgeParams& params() const { return params_; }
  [[nodiscard]] const SignalWords& words() const { return words_; }
  [[nodiscard]] const SurgeSettings& settings() const { return settings_; }

 private:
  SurgeParams params_;
  SignalWords words_;
  SurgeSettings settings_;
  std::vector<Tier> tiers_;
};

}  // namespace outcomed
