// Kind `absorption`: provider failures against consumer failures of one group, over a sliding
// window. It needs a signal with the label `side` (queries/failure_side.h), which the rule's `by`
// leaves to the detector. What the words mean stands in outcome.h.
//
// Breached while the verdict is one of `breached_by`. An alert that fires goes on while consumers'
// share is above its limit, even where that is no longer proven.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "detectors/absorption/outcome.h"
#include "detectors/detector.h"

namespace outcomed {

struct AbsorptionParams {
  Duration window = std::chrono::hours(1);
  std::optional<double> provider_failures = 0.1;
  std::optional<double> consumer_failures = 0.01;
  std::int64_t min_provider_failures = 3;
  std::int64_t min_consumer_failures = 5;
  std::int64_t min_requests = 20;
  std::vector<std::string> breached_by = {"leaking", "rejected", "self_inflicted"};
  Duration hold{};
  std::string severity = "page";

  void visit(ParamVisitor& visitor, const SignalWords& words);
};

class AbsorptionDetector final : public Detector {
 public:
  static constexpr std::string_view kKind = "absorption";
  static constexpr std::string_view kSummary =
      "provider failures against consumer failures: absorbed, leaking, rejected, self-inflicted";
  // Whole hours of which a verdict tells how they went.
  static constexpr Duration kToldSpan = std::chrono::hours(24);

  AbsorptionDetector(AbsorptionParams params, SignalWords words);

  [[nodiscard]] std::unique_ptr<Fold> start(const Labels& group) const override;
  [[nodiscard]] const std::vector<Tier>& tiers() const override { return tiers_; }
  [[nodiscard]] std::vector<std::string> member_labels() const override;
  [[nodiscard]] Duration reach() const override { return params_.window + kToldSpan; }
  [[nodiscard]] Duration patience() const override { return params_.window; }

  [[nodiscard]] const AbsorptionParams& params() const { return params_; }
  [[nodiscard]] const SignalWords& words() const { return words_; }
  [[nodiscard]] const AbsorptionLimits& limits() const { return limits_; }
  [[nodiscard]] bool breaches(AbsorptionOutcome outcome) const {
    return breaching_[static_cast<std::size_t>(outcome)];
  }

 private:
  AbsorptionParams params_;
  SignalWords words_;
  AbsorptionLimits limits_;
  std::vector<Tier> tiers_;
  bool breaching_[6] = {};  // By outcome.
};

}  // namespace outcomed
