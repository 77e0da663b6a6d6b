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
  return enter(std::move(state), Phase::inactive, change, at, std::move(reason));
}

Step on_breach(AlertState state, Timestamp at, Timestamp onset, const AlertPolicy& policy) {
  state.last_breach = at;
  if (state.phase == Phase::firing) return stay(std::move(state));
  const bool fresh = state.phase == Phase::inactive;
  if (fresh) {
    state.pending_at = at;
    state.onset = onset;
  }
  if (at - state.pending_at >= policy.hold) {
    state.fired_at = at;
    return enter(std::move(state), Phase::firing, Change::fired, at);
  }
  if (!fresh) return stay(std::move(state));
  return enter(std::move(state), Phase::pending, Change::started, at);
}

Step on_healthy(AlertState state, Timestamp at, const AlertPolicy& policy) {
  if (state.phase == Phase::inactive) return stay(std::move(state));
  if (state.phase == Phase::firing && at - state.last_breach < policy.keep_firing) {
    return stay(std::move(state));
  }
  return end(std::move(state), at, "recovered");
}

}  // namespace

Step step(AlertState state, Judgement judgement, Timestamp at, Timestamp onset,
          const AlertPolicy& policy) {
  if (at <= state.last_judged) return stay(std::move(state));
  switch (judgement) {
    case Judgement::breached:
      state.last_judged = at;
      return on_breach(std::move(state), at, onset, policy);
    case Judgement::healthy:
      state.last_judged = at;
      return on_healthy(std::move(state), at, policy);
    case Judgement::lingering:
      state.last_judged = at;
      if (state.phase == Phase::firing) {
        state.last_breach = at;
        return stay(std::move(state));
      }
      return on_healthy(std::move(state), at, policy);
    case Judgement::too_few:
      if (state.phase != Phase::inactive && at - state.last_judged > policy.patience) {
        return end(std::move(state), at, "too few requests to judge");
      }
      return stay(std::move(state));
    case Judgement::no_data:
    case Judgement::partial:
    case Judgement::failed:
      return stay(std::move(state));
  }
  return stay(std::move(state));
}

Step adopt(AlertState state, Timestamp at, const AlertPolicy& policy) {
  if (state.phase == Phase::firing && state.last_breach - state.pending_at < policy.hold) {
    return enter(std::move(state), Phase::pending, Change::resolved, at,
                 "`for` was made longer: pending again");
  }
  return stay(std::move(state));
}

}  // namespace outcomed
