// The only place an alert changes phase. The daemon, the backtest command and the tests all call
// it; there is no second copy.
#pragma once

#include <optional>

#include "alerts/alert.h"

namespace outcomed {

struct AlertPolicy {
  Duration hold{};         // Breached this long before it fires (`for`).
  Duration keep_firing{};  // Good for this long before it resolves (`keep_firing_for`).
  Duration patience{};     // Too few to judge for longer than this ends a pending or firing alert.
  friend bool operator==(const AlertPolicy&, const AlertPolicy&) = default;
};

struct Step {
  AlertState state;
  std::optional<Transition> transition;
};

// Moves the phase by one bucket ending at `at`. Pure.
//   healthy / breached / lingering move it as in Prometheus, with a lower line for the way back;
//     keep_firing counts from the first good bucket.
//   no_data, partial, failed hold it for ever: missing data neither fires nor resolves. The pending
//     clock stands still meanwhile: time in which nobody looked is no evidence.
//   too_few holds it likewise, but for `patience` at most, counted in time with too few.
// A bucket that is not newer than the last one is ignored, so replays change nothing.
// `onset` is read only when a breach starts a new run.
Step step(AlertState state, Judgement judgement, Timestamp at, Timestamp onset,
          const AlertPolicy& policy);

// Fits a restored or running alert to a policy that was changed by a reload: with a longer hold a
// firing alert that has not been breached long enough goes back to pending, its clock kept.
Step adopt(AlertState state, Timestamp at, const AlertPolicy& policy);

}  // namespace outcomed
