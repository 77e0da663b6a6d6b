// Kind `share`: k of n over a sliding window is above (below) a line.
//
// For each tier: breached when the share is above the line (strictly; below likewise), with at
// least min_requests in the window and, for `above`, at least min_failures. Counts are compared,
// never rounded ratios: k > line · n. Once an alert fires, a share above `resolve_below` keeps it.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "detectors/detector.h"

namespace outcomed {

struct ShareTier {
  std::optional<double> above;
  std::optional<double> below;
  Duration hold{};
  std::string severity;
};

struct ShareParams {
  std::optional<double> above;
  std::optional<double> below;
  Duration window = std::chrono::hours(1);
  Duration hold{};
  std::string severity = "page";
  std::int64_t min_requests = 1;
  std::int64_t min_failures = 1;
  std::optional<double> resolve_below;
  std::optional<double> resolve_above;
  std::vector<ShareTier> tiers;  // Instead of above/below/for/severity.

  void visit(ParamVisitor& visitor, const SignalWords& words);
};

class ShareDetector final : public Detector {
 public:
  static constexpr std::string_view kKind = "share";
  static constexpr std::string_view kSummary = "k of n over a window is above (below) a line";

  ShareDetector(ShareParams params, SignalWords words);

  [[nodiscard]] std::unique_ptr<Fold> start(const Labels& group) const override;
  [[nodiscard]] const std::vector<Tier>& tiers() const override { return tiers_; }
  [[nodiscard]] Duration reach() const override;
  [[nodiscard]] Duration patience() const override { return params_.window; }

  // For rule files and explanations.
  [[nodiscard]] const ShareParams& params() const { return params_; }
  [[nodiscard]] const SignalWords& words() const { return words_; }
  [[nodiscard]] bool is_below() const { return below_; }
  [[nodiscard]] double line(std::size_t tier) const { return tiers_[tier].threshold; }
  // The line that is crossed first: the lowest of `above`, the highest of `below`.
  [[nodiscard]] double first_line() const { return first_line_; }

 private:
  ShareParams
      params_;  // `tiers` always filled: one made of the single settings where none is given.
  SignalWords words_;
  std::vector<Tier> tiers_;
  bool below_ = false;
  double first_line_ = 0;
};

}  // namespace outcomed
