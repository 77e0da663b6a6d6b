// Requests of private groups that something else was sent. A client can send its own fallbacks, so
// a gateway's configuration alone can't prove that private data stays. Counters tell, as seen on
// real gateways (1.81.9, 1.106.12; tests/integration/gateway/leaks_test.py):
//   successful and failed fallbacks{requested_model private, fallback_model not}: any fallback, the
//   client's own too
//   deployment successes and failures{requested_model private, api_base outside}: an alias, or a
//   deployment outside under the private name
#pragma once

#include "queries/litellm/preset.h"

namespace outcomed::litellm {

// n: requests of private groups that were answered; k: of those, what left. Labels model, and for
// failures `served_by` (the group, or the provider's model of the deployment) and `way` (fallback,
// failed fallback, deployment, failed deployment). A failed deployment is an attempt: the request
// may have been sent on and be counted once more. Refusals by the gateway itself were sent nowhere.
SignalPlan leaks(const PresetSettings& settings);

}  // namespace outcomed::litellm
