#include "detectors/share/share.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "detectors/share/fold.h"
#include "detectors/window_setting.h"

namespace outcomed {
namespace {

void check_line(ParamVisitor& visitor, std::string_view where, std::optional<double> above,
                std::optional<double> below) {
  if (above.has_value() == below.has_value()) {
    visitor.problem(where, "exactly one of `above` and `below` is needed",
                    "write for example above: 10%");
  }
  if (above && *above >= 1) {
    visitor.problem("above", "a share is never above 100%: this can't fire", "use a lower line");
  }
  if (below && *below <= 0) {
    visitor.problem("below", "a share is never below 0%: this can't fire", "use a higher line");
  }
}

void check_way_back(ParamVisitor& visitor, const ShareParams& p) {
  if (p.resolve_below && *p.resolve_below <= 0) {
    visitor.problem("resolve_below", "a share is never below 0%: the alert could never end",
                    "use a higher line");
  }
  if (p.resolve_above && *p.resolve_above >= 1) {
    visitor.problem("resolve_above", "a share is never above 100%: the alert could never end",
                    "use a lower line");
  }
  const ShareTier& first = p.tiers.front();
  if (first.above && p.resolve_above) {
    visitor.problem("resolve_above", "says nothing of a rule with `above`", "write resolve_below");
  } else if (first.below && p.resolve_below) {
    visitor.problem("resolve_below", "says nothing of a rule with `below`", "write resolve_above");
  }
  for (const ShareTier& tier : p.tiers) {
    if (tier.above && p.resolve_below && *p.resolve_below > *tier.above) {
      visitor.problem("resolve_below",
                      fmt::format("{:g}% is above the line of {:g}% that starts the alert",
                                  *p.resolve_below * 100, *tier.above * 100),
                      "make it lower than `above`");
    }
    if (tier.below && p.resolve_above && *p.resolve_above < *tier.below) {
      visitor.problem("resolve_above", "lies below the line that starts the alert",
                      "make it higher than `below`");
    }
  }
  if (p.min_failures > 0 && p.min_requests > 0 && !p.tiers.empty() && p.tiers.front().below &&
      p.min_failures > 1) {
    visitor.problem("min_failures", "has no meaning for `below`", "use min_requests");
  }
}

}  // namespace

void ShareParams::visit(ParamVisitor& visitor, const SignalWords& words) {
  visitor.share("above", above, "Breached while the share is above this.");
  visitor.share("below", below, "Breached while the share is below this (instead of `above`).");
  visitor.duration("window", window, "The share is taken over this long.");
  visitor.duration("for", hold, "Breached this long before it fires.");
  visitor.text("severity", severity, "Severity of the alert: page, ticket or a word of yours.");
  visitor.count("min_requests", min_requests, {1, 1e15},
                "Fewer than this in the window are too few to judge.");
  visitor.count("min_failures", min_failures, {0, 1e15},
                "Fewer failures than this in the window never start an alert.");
  visitor.share("resolve_below", resolve_below,
                "A firing alert goes on until the share is below this (default: the line itself).");
  visitor.share("resolve_above", resolve_above, "The same for rules with `below`.");
  const std::size_t count =
      visitor.items("tiers", tiers.size(),
                    "Several lines over one window, each with its own severity and `for`.");
  tiers.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    visitor.begin_item(i);
    visitor.share("above", tiers[i].above, "As in the rule.");
    visitor.share("below", tiers[i].below, "As in the rule.");
    visitor.duration("for", tiers[i].hold, "As in the rule.");
    visitor.text("severity", tiers[i].severity, "Severity of this tier; each only once.");
    check_line(visitor, "above", tiers[i].above, tiers[i].below);
    if (tiers[i].severity.empty()) visitor.problem("severity", "a tier needs a severity");
    for (std::size_t j = 0; j < i; ++j) {
      if (tiers[j].severity == tiers[i].severity) {
        visitor.problem(
            "severity",
            fmt::format("\"{}\" is the severity of another tier too", tiers[i].severity),
            "alerts are told apart by rule, group and severity");
      }
      if (tiers[j].above.has_value() != tiers[i].above.has_value()) {
        visitor.problem("above", "tiers of one rule are all `above` or all `below`");
      }
    }
  }
  visitor.end_items();
  if (count == 0) {
    check_line(visitor, "above", above, below);
    tiers.push_back({above, below, hold, severity});
  } else if (above || below) {
    visitor.problem("tiers", "a rule has either tiers or a line of its own",
                    "move `above` into a tier");
  }
  check_window(visitor, window, words.step);
  check_way_back(visitor, *this);
  if (min_failures > min_requests && std::ranges::any_of(tiers, [&](const ShareTier& tier) {
        return tier.above && double(min_failures) > double(min_requests) && *tier.above >= 1;
      })) {
    visitor.problem("min_failures", "can't be reached");
  }
}

ShareDetector::ShareDetector(ShareParams params, SignalWords words)
    : params_(std::move(params)), words_(std::move(words)) {
  if (params_.tiers.empty()) {
    params_.tiers.push_back({params_.above, params_.below, params_.hold, params_.severity});
  }
  for (const ShareTier& tier : params_.tiers) {
    tiers_.push_back({tier.severity, tier.hold, tier.above.value_or(tier.below.value_or(0))});
  }
  below_ = params_.tiers.front().below.has_value();
  const auto [lowest, highest] = std::ranges::minmax(tiers_, {}, &Tier::threshold);
  first_line_ = below_ ? highest.threshold : lowest.threshold;
}

std::unique_ptr<Fold> ShareDetector::start(const Labels& group) const {
  return std::make_unique<ShareFold>(*this, group);
}

Duration ShareDetector::reach() const { return params_.window + ShareFold::kNormalSpan; }

}  // namespace outcomed
