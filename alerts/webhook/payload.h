#pragma once

#include <cstddef>
#include <string>

#include "alerts/message.h"

namespace outcomed {

// The body. Resolved alerts are left out unless `send_resolved`; with max_alerts > 0 the first ones
// stay and `truncatedAlerts` counts the others. `status` is resolved only if every alert is, the
// truncated ones included. `fingerprint` is Alertmanager's own hash of the labels.
std::string webhook_body(const Message& message, std::size_t max_alerts);

}  // namespace outcomed
