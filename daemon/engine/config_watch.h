// Whether the configuration on disk is the one in force: one alert of our own, `config_broken`.
#pragma once

#include <optional>
#include <string>

#include "alerts/lifecycle.h"
#include "daemon/engine/rule_runner.h"

namespace outcomed {

inline constexpr std::string_view kConfigBroken = "config_broken";

class ConfigWatch {
 public:
  ConfigWatch();

  // Why the configuration on disk is not in force; empty: it is.
  void set(std::string reason) { reason_ = std::move(reason); }
  void restore(const AlertState& state) { state_ = state; }
  // Judges once a tick, at the tick's own time. Fires at once.
  std::optional<RuleEvent> judge(Timestamp at);
  [[nodiscard]] const AlertState& state() const { return state_; }
  [[nodiscard]] bool silent() const { return reason_.empty() && state_.phase == Phase::inactive; }

 private:
  std::string reason_;
  AlertState state_;
};

}  // namespace outcomed
