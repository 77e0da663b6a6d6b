#include "daemon/engine/config_watch.h"

#include <fmt/core.h>

#include <utility>

#include "detectors/sentence.h"

namespace outcomed {

ConfigWatch::ConfigWatch() { state_.key = {std::string(kConfigBroken), "ticket", Labels{}}; }

std::optional<RuleEvent> ConfigWatch::judge(Timestamp at) {
  const bool fine = reason_.empty();
  const Timestamp onset = state_.phase == Phase::inactive ? at : state_.onset;
  Step moved = step(std::move(state_), fine ? Judgement::healthy : Judgement::breached, at, onset,
                    AlertPolicy{});
  state_ = std::move(moved.state);
  if (!moved.transition) return std::nullopt;
  Verdict verdict;
  verdict.judgement = fine ? Judgement::healthy : Judgement::breached;
  verdict.at = at;
  verdict.onset = state_.onset;
  verdict.sentence =
      fine ? "the configuration on disk is in force again."
           : fmt::format(
                 "the configuration on disk is not in force since {}: {}; the last good one "
                 "goes on.",
                 format_since(state_.onset, at), reason_);
  verdict.facts = {{"reason", reason_}};
  return RuleEvent{state_, *std::move(moved.transition), 0, std::move(verdict)};
}

}  // namespace outcomed
