#include "detectors/baseline/baseline.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "detectors/baseline/fold.h"

namespace outcomed {
namespace {

// "200%" or "2": a multiple above 1.
std::optional<double> multiple(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (percent) value /= 100;
  if (!std::isfinite(value) || value <= 1 || value > 1e6) return std::nullopt;
  return value;
}

void check_lines(ParamVisitor& visitor, const BaselineParams& p) {
  if (p.falls_to && (*p.falls_to <= 0 || *p.falls_to >= 1)) {
    visitor.problem("falls_to", "must lie between 0% and 100% of the median", "write 50%");
  }
  if (!p.rises_to.empty() && !multiple(p.rises_to)) {
    visitor.problem("rises_to",
                    fmt::format("\"{}\" is not a multiple of the median above 100%", p.rises_to),
                    "write for example 200%");
  }
  if (p.direction != "both" && p.direction != "falls" && p.direction != "rises") {
    visitor.problem("direction", fmt::format("\"{}\" is not a direction", p.direction),
                    "write both, falls or rises");
  }
  if (p.direction == "falls" && !p.rises_to.empty()) {
    visitor.problem("rises_to", "the rule watches only falls", "remove it, or direction");
  }
}

}  // namespace

void BaselineParams::visit(ParamVisitor& visitor, const SignalWords& words) {
  visitor.share("falls_to", falls_to,
                "Breached when the share is below this part of the median and chance alone does "
                "not explain it.");
  visitor.text("rises_to", rises_to,
               "The same for rises: a multiple of the median such as 200% (default: rises are left "
               "to the evidence).");
  visitor.text("direction", direction, "Which changes are reported: both, falls or rises.");
  visitor.text_list("restart_on", restart_on,
                    "Labels of the signal, such as the threshold in use: each of their values has "
                    "a baseline of its own.");
  check_lines(visitor, *this);
  days.visit(visitor, words);
}

BaselineDetector::BaselineDetector(BaselineParams params, SignalWords words)
    : params_(std::move(params)), words_(std::move(words)) {
  params_.days.make_safe();
  zone_ = params_.days.zone(words_);
  rises_to_ = multiple(params_.rises_to);
  tiers_.push_back({params_.days.severity, params_.days.hold, params_.falls_to.value_or(0)});
}

std::unique_ptr<Fold> BaselineDetector::start(const Labels& group) const {
  return std::make_unique<BaselineFold>(*this, group);
}

}  // namespace outcomed
