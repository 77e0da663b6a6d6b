#include "detectors/scores/scores.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "detectors/scores/fold.h"

namespace outcomed {
namespace {

void check_cuts(ParamVisitor& visitor, const ScoresParams& p) {
  if (p.cuts.size() > ScoresDetector::kMostCuts) {
    visitor.problem("cuts", fmt::format("more than {} cuts", ScoresDetector::kMostCuts));
  }
  for (std::size_t i = 0; i < p.cuts.size(); ++i) {
    const auto cut = parse_score(p.cuts[i]);
    if (!cut) {
      visitor.problem("cuts", fmt::format("\"{}\" is not a number", p.cuts[i]));
    } else if (i > 0 && cut <= parse_score(p.cuts[i - 1]).value_or(-INFINITY)) {
      visitor.problem("cuts", fmt::format("{} does not come after {}", p.cuts[i], p.cuts[i - 1]),
                      "write them in ascending order, each once");
    }
  }
}

}  // namespace

std::optional<double> parse_score(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

void ScoresParams::visit(ParamVisitor& visitor, const SignalWords& words) {
  visitor.text("score_label", score_label, "Label of the signal that holds the score, a number.");
  visitor.text_list("cuts", cuts,
                    "Scores at which the distribution is watched, ascending (default: every score "
                    "where there are up to 20, else 10 quantiles of the normal days).");
  if (score_label.empty()) visitor.problem("score_label", "is empty", "name the label");
  check_cuts(visitor, *this);
  days.visit(visitor, words);
}

ScoresDetector::ScoresDetector(ScoresParams params, SignalWords words)
    : params_(std::move(params)), words_(std::move(words)) {
  params_.days.make_safe();
  zone_ = params_.days.zone(words_);
  for (const std::string& text : params_.cuts) {
    if (const auto cut = parse_score(text)) cuts_.push_back(*cut);
  }
  std::ranges::sort(cuts_);
  cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  if (cuts_.size() > kMostCuts) cuts_.resize(kMostCuts);
  tiers_.push_back({params_.days.severity, params_.days.hold, params_.days.budget()});
}

std::unique_ptr<Fold> ScoresDetector::start(const Labels& group) const {
  return std::make_unique<ScoresFold>(*this, group);
}

}  // namespace outcomed
