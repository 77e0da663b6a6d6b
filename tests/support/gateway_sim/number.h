// Numbers as prometheus_client 0.20 prints them: Python's repr, but for values from a million on.
#pragma once

#include <string>

namespace outcomed::sim {

// "41.0", "26.5", "4.2e-07", "2.718281e+06", "1.2e+010", "+Inf", "NaN".
void append_number(std::string& out, double value);

}  // namespace outcomed::sim
