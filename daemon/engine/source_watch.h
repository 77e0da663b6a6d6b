// Whether a source still says anything: one alert of our own for each source, `source_down`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alerts/lifecycle.h"
#include "daemon/engine/rule_runner.h"

namespace outcomed {

inline constexpr std::string_view kSourceDown = "source_down";

struct SourceHealth {
  bool answers = false;  // The last fetch succeeded and its newest step was seen.
  std::string reason;    // Why not: the error, or "no scrape of the gateway since …".
};

class SourceWatch {
 public:
  // `blinds`: the rules that judge nothing while this source is away.
  SourceWatch(std::string source, std::vector<std::string> blinds, Duration hold);

  void restore(const AlertState& state);
  // Judges once a tick, at the tick's own time.
  std::optional<RuleEvent> judge(const SourceHealth& health, Timestamp at);
  [[nodiscard]] const AlertState& state() const { return state_; }
  [[nodiscard]] const std::string& source() const { return source_; }

 private:
  std::string source_;
  std::vector<std::string> blinds_;
  AlertPolicy policy_;
  AlertState state_;
  Timestamp away_since_;
};

}  // namespace outcomed
