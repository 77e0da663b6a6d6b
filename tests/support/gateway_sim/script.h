// What goes wrong when: the timeline of a simulated gateway.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "queries/base/result.h"

namespace outcomed::sim {

enum class Effect {
  refuse,          // The router refuses: deployment cooling down.
  capped,          // The router refuses: deployment's rpm cap.
  outage,          // The provider answers 500, the client sees it.
  absorb,          // The provider answers 500, a retry succeeds.
  fallback,        // The provider answers 503, another model serves.
  fallback_fails,  // The provider answers 503, the other model fails as well.
  rate_limit,      // The provider answers 429.
  caller_errors,   // The client's request is wrong: 400.
  timeouts,        // The provider doesn't answer: 408.
  not_found,       // The provider has no such model: 404.
  authentication,  // The provider refuses the gateway's key: 401.
  unknown_model,   // Clients ask for a model that isn't there; `model` is its name.
  quiet,           // No traffic.
  restart,         // The process ends and another starts after `length`; counters begin anew.
  born,            // The model gets no traffic before this.
  never,           // The model fails from here on, always (503).
};

struct Phase {
  Effect effect = Effect::quiet;
  std::int64_t begin_ms = 0;  // Since the start of the timeline.
  std::int64_t end_ms = std::numeric_limits<std::int64_t>::max();
  std::string model;  // Empty: all of them.
  double share = 1;   // Of the model's requests.
  std::string other;  // The fallback.
};

struct Script {
  std::vector<Phase> phases;
  std::int64_t cycle_ms = 0;  // The timeline repeats after so long (born, never: once); 0: never.
  double swing = 0;           // Traffic is up by this share at noon UTC and down at midnight.
  double noise = 0.002;       // Of all requests fail with a provider's 500 when nothing is wrong.

  // Whether `phase` is on at `at_ms`.
  [[nodiscard]] bool on(const Phase& phase, std::int64_t at_ms) const;
};

// One phase a line: AT LENGTH EFFECT [MODEL] [share=92%] [to=MODEL]; LENGTH "-" means to the end.
// Further lines: "cycle 6h", "swing 50%", "noise 0.2%". "#" begins a comment.
Result<Script> parse_script(std::string_view text);

// demo, soak, all; `names` for messages and --help.
Result<std::string_view> builtin_script(std::string_view name);

}  // namespace outcomed::sim
