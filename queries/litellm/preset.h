// The LiteLLM preset: which counters make which signal. The arithmetic was checked against what
// clients of real gateways (1.81.9, 1.86.7, 1.99.4, 1.106.12) got, request by request:
//   failed(A)    = Σ proxy_failed{requested_model=A, route not /metrics} / d,  d = 2 before 1.81.14
//   succeeded(A) = Σ request_total_latency_count{requested_model=A}
//                  − Σ successful_fallbacks{fallback_model=A} + Σ
//                  successful_fallbacks{requested_model=A}
//   n(A)         = failed(A) + succeeded(A)
#pragma once

#include <string>
#include <vector>

#include "queries/base/private_hosts.h"
#include "queries/signal.h"

namespace outcomed::litellm {

// What must not leave the house.
struct PrivateGroups {
  std::vector<std::string> groups;  // Patterns with `*`; none: there is no signal `leaks`.
  PrivateHosts hosts;
};

struct PresetSettings {
  std::string source;
  std::string version = "auto";
  Duration step = std::chrono::minutes(1);
  PrivateGroups keep_private = {};
};

// requests, provider, refusals, fallbacks, cooldowns, absorption, leaks. Each plan's `labels` and
// `failure_labels` list all labels the signal offers; callers narrow them to those in use.
std::vector<SignalPlan> signals(const PresetSettings& settings);

}  // namespace outcomed::litellm
