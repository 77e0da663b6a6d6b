#include "detectors/surge/surge.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "detectors/surge/fold.h"

namespace outcomed {

void SurgeParams::visit(ParamVisitor& visitor, const SignalWords& words) {
  visitor.duration("false_page_every", false_page_every,
                   "Mean time between false pages of one group, at least.");
  visitor.share("min_share", min_share, "Shares up to this are always normal (default: 2%).");
  visitor.count("learn_days", learn_days, {3, 60}, "What is normal comes from so many days.");
  visitor.duration("for", hold, "Breached this long before it fires.");
  visitor.text("severity", severity, "Severity of the alert: page, ticket or a word of yours.");
  visitor.text_list("across", across,
                    "Labels beside `by`: one alert when several of their values fail together.");
  if (false_page_every < std::chrono::hours(1)) {
    visitor.problem("false_page_every", "less than 1h is no budget", "write for example 90d");
  } else if (words.step > Duration::zero() && false_page_every < words.step * 100) {
    visitor.problem(
        "false_page_every",
        fmt::format("less than 100 of the signal's steps of {}", format_duration(words.step)),
        "allow false pages less often");
  }
  if (words.step > std::chrono::hours(6)) {
    visitor.problem("kind",
                    fmt::format("the signal's step of {} is too long for minute-fast detection",
                                format_duration(words.step)),
                    "use `baseline` for daily signals");
  }
  if (min_share && *min_share >= 0.95) {
    visitor.problem("min_share", "leaves nothing to find", "use 50% or less");
  }
}

SurgeDetector::SurgeDetector(SurgeParams params, SignalWords words)
    : params_(std::move(params)), words_(std::move(words)) {
  settings_.step = std::max(words_.step, Duration(1));
  settings_.false_page_every = params_.false_page_every;
  settings_.learn = std::chrono::days(std::clamp<std::int64_t>(params_.learn_days, 1, 365));
  settings_.min_share = std::clamp(params_.min_share.value_or(SurgeParams::kUsualFloor), 0.0, 0.97);
  tiers_.push_back({params_.severity, params_.hold, settings_.min_share});
}

std::unique_ptr<Fold> SurgeDetector::start(const Labels& group) const {
  return std::make_unique<SurgeFold>(*this, group);
}

}  // namespace outcomed
