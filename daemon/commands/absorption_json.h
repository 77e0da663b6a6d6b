// The JSON of `report absorption` and `verify`.
#pragma once

#include <string>

#include "daemon/commands/absorption_data.h"

namespace outcomed {

// {"hours": [{"start", "attempts", "provider_failures", "requests", "consumer_failures", "verdict",
// …}], "provider_failure_hours", "absorbed_hours", "leaking_hours", "self_inflicted_hours",
// "totals": {…}}; with `by_model` also "models": the same for each.
std::string absorption_json(const AbsorptionData& data, bool by_model);

// `verdict` is held, leaked or unproved.
std::string verify_json(const AbsorptionData& data, const AbsorptionTotals& totals,
                        const std::string& verdict, const std::string& sentence);

}  // namespace outcomed
