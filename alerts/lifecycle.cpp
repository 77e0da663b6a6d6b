#include "alerts/lifecycle.h"

#include <utility>

namespace outcomed {
namespace {

Step enter(AlertState state, Phase phase, Change change, Timestamp at, std::string reason = {}) {
  state.phase = phase;
  return {std::move(state), Transition{change, at, std::move(reason)}};
}

Step stay(AlertState state) { return {std::move(state), std::nullopt}; }

Step end(AlertState state, Timestamp at, std::string reason) {
  const Change change = state.phase == Phase::firing ? Change::resolved : Change::dropped;
  state.healthy_since = {};
  state.unknown = {};
  state.too_few = {};
  return enter(std::move(state), Phase::inactive, change, at, std::move(reason));
}

Step on_breach(AlertState state, Timestamp at, Timestamp onset, const AlertPolicy& policy) {
  state.last_breach = at;
  state.healthy_since = {};
  if (state.phase == Phase::firing) return stay(std::move(state));
  const bool fresh = state.phase == Phase::inactive;
  if (fresh) {
    state.pending_at = at;
    state.onset = onset;
    state.unknown = {};
  }
  if (at - state.pending_at - state.unknown >= policy.hold) {
    state.fired_at = at;
    return enter(std::move(state), Phase::firing, Change::fired, at);
  }
  if (!fresh) return stay(std::move(state));
  return enter(std::move(state), Phase::pending, Change::started, at);
}

Step on_healthy(AlertState state, Timestamp at, const AlertPolicy& policy) {
  if (state.phase == Phase::inactive) return stay(std::move(state));
  if (state.phase == Phase::firing) {
    if (state.healthy_since == Timestamp{}) state.healthy_since = at;
    if (at - state.healthy_since < policy.keep_firing) return stay(std::move(state));
  }
  return end(std::move(state), at, std::string(kRecovered));
}

Step on_lingering(AlertState state, Timestamp at, const AlertPolicy& policy) {
  if (state.phase != Phase::firing) return on_healthy(std::move(state), at, policy);
  state.last_breach = at;
  state.healthy_since = {};
  return stay(std::move(state));
}

Step on_unknown(AlertState state, Judgement judgement, Timestamp at, Duration passed,
                const AlertPolicy& policy) {
  if (state.phase == Phase::inactive) return stay(std::move(state));
  if (state.phase == Phase::pending) state.unknown += passed;
  if (judgement != Judgement::too_few) return stay(std::move(state));
  state.too_few += passed;
  if (state.too_few <= policy.patience) return stay(std::move(state));
  return end(std::move(state), at, "too few requests to judge");
}

}  // namespace

Step step(AlertState state, Judgement judgement, Timestamp at, Timestamp onset,
          const AlertPolicy& policy) {
  if (at <= state.last_step) return stay(std::move(state));
  const Duration passed = at - state.last_step;
  state.last_step = at;
  switch (judgement) {
    case Judgement::breached:
      state.too_few = {};
      return on_breach(std::move(state), at, onset, policy);
    case Judgement::healthy:
      state.too_few = {};
      return on_healthy(std::move(state), at, policy);
    case Judgement::lingering:
      state.too_few = {};
      return on_lingering(std::move(state), at, policy);
    case Judgement::too_few:
    case Judgement::no_data:
    case Judgement::partial:
    case Judgement::failed:
      return on_unknown(std::move(state), judgement, at, passed, policy);
  }
  return stay(std::move(state));
}

Step adopt(AlertState state, Timestamp at, const AlertPolicy& policy) {
  const Duration breached_for = state.last_breach - state.pending_at - state.unknown;
  if (state.phase == Phase::firing && breached_for < policy.hold) {
    return enter(std::move(state), Phase::pending, Change::resolved, at,
                 "`for` was made longer: pending again");
  }
  return stay(std::move(state));
}

}  // namespace outcomed
