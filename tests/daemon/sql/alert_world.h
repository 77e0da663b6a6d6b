// The engine on one source, minute by minute, with rules and without receivers.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/engine/engine.h"
#include "daemon/engine/null_store.h"
#include "detectors/share/share.h"

namespace outcomed::testing {

// A rule on a signal, by model: above the line it fires at once.
inline RuleSpec share_rule(const SignalPlan& plan, const std::string& name, double above,
                           std::vector<std::string> by = {"model"}, std::int64_t least = 5) {
  ShareParams params;
  params.above = above;
  params.window = std::chrono::minutes(5);
  params.min_requests = least;
  RuleSpec rule;
  rule.name = name;
  rule.kind = "share";
  rule.signal = plan.name;
  rule.by = std::move(by);
  rule.detector =
      std::make_shared<ShareDetector>(params, SignalWords{plan.unit, plan.outcome, plan.step});
  return rule;
}

class AlertWorld {
 public:
  // `source` outlives the world. It is watched from `start` on.
  AlertWorld(Source& source, std::vector<SignalPlan> plans, std::vector<RuleSpec> rules,
             Timestamp start) {
    auto announcer = std::make_shared<const Announcer>(Route{}, std::vector<QueuedPart>{},
                                                       std::map<std::string, Labels>{}, "");
    std::shared_ptr<Source> shared(&source, [](Source*) {});
    engine_ = std::make_unique<Engine>(
        std::vector<SourceUnit>{{"ledger", shared, Duration::zero(), std::move(plans)}},
        std::move(rules), announcer, EngineSettings{}, store_,
        [] { return std::chrono::steady_clock::time_point(); });
    restored_ = static_cast<bool>(engine_->restore(start));
  }
  [[nodiscard]] bool restored() const { return restored_; }

  // The tick at a minute; episodes that changed in it are kept.
  TickReport tick(Timestamp at) {
    TickReport report = engine_->tick(at);
    for (const Episode& episode : report.episodes) episodes_[episode.id] = episode;
    return report;
  }
  [[nodiscard]] bool is_open(const std::string& rule) const {
    return std::ranges::any_of(engine_->open_episodes(),
                               [&](const auto& open) { return open.first.rule == rule; });
  }
  [[nodiscard]] std::size_t open() const { return engine_->open_episodes().size(); }
  // All that ever were.
  [[nodiscard]] std::vector<Episode> episodes(const std::string& rule) const {
    std::vector<Episode> found;
    for (const auto& [id, episode] : episodes_) {
      if (episode.key.rule == rule) found.push_back(episode);
    }
    return found;
  }

 private:
  NullStore store_;
  std::unique_ptr<Engine> engine_;
  std::map<std::string, Episode> episodes_;
  bool restored_ = false;
};

}  // namespace outcomed::testing
