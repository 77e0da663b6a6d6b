// Time zones from the system's tz database.
#pragma once

#include <memory>

#include "queries/base/time_zone.h"

namespace outcomed {

// Looks zones up where the operating system keeps them (/usr/share/zoneinfo). Safe for threads.
std::shared_ptr<const TimeZones> system_time_zones();

}  // namespace outcomed
