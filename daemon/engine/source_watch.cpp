#include "daemon/engine/source_watch.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <utility>

#include "detectors/sentence.h"

namespace outcomed {

SourceWatch::SourceWatch(std::string source, std::vector<std::string> blinds, Duration hold)
    : source_(std::move(source)), blinds_(std::move(blinds)), policy_{hold, {}, {}} {
  // One that is only compared with another source blinds nobody.
  const std::string severity = blinds_.empty() ? "ticket" : "page";
  state_.key = {std::string(kSourceDown), severity, Labels{{"source", source_}}};
}

void SourceWatch::restore(const AlertState& state) { state_ = state; }

std::optional<RuleEvent> SourceWatch::judge(const SourceHealth& health, Timestamp at) {
  if (health.answers) {
    away_since_ = {};
  } else if (away_since_ == Timestamp{}) {
    away_since_ = state_.phase == Phase::inactive ? at : state_.onset;
  }
  Step moved = step(std::move(state_), health.answers ? Judgement::healthy : Judgement::breached,
                    at, away_since_, policy_);
  state_ = std::move(moved.state);
  if (!moved.transition) return std::nullopt;
  Verdict verdict;
  verdict.judgement = health.answers ? Judgement::healthy : Judgement::breached;
  verdict.at = at;
  verdict.onset = state_.onset;
  const std::string rules = fmt::format("{}", fmt::join(blinds_, ", "));
  verdict.sentence =
      health.answers
          ? fmt::format("source {}: answers again; what was missed is being read.", source_)
          : fmt::format("source {}: no numbers since {} ({}); these rules judge nothing: {}.",
                        source_, format_since(state_.onset, at), health.reason,
                        rules.empty() ? "none" : rules);
  verdict.facts = {{"source", source_}, {"reason", health.reason}, {"rules", rules}};
  return RuleEvent{state_, *std::move(moved.transition), 0, std::move(verdict)};
}

}  // namespace outcomed
