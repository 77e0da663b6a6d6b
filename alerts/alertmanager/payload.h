#pragma once

#include <span>
#include <string>
#include <vector>

#include "alerts/message.h"

namespace outcomed {

// Alerts fit to be sent: one for each label set (firing before resolved, then the latest end),
// valid UTF-8 and classic label names, ends not before starts. `firing_until` becomes the end of
// firing ones. Alerts without any label can't be told and are dropped.
std::vector<AlertMessage> sendable(const std::vector<AlertMessage>& state, Timestamp firing_until);

// The body of POST /api/v2/alerts. generatorURL is left out unless it is an http(s) URL:
// Alertmanager refuses the whole body for a bad one.
std::string alertmanager_body(std::span<const AlertMessage> alerts);

}  // namespace outcomed
