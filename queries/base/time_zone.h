// Local time, as far as pure code needs it: the offset from UTC. The shell brings the zones.
#pragma once

#include <memory>
#include <string_view>

#include "queries/base/time.h"

namespace outcomed {

class TimeZone {
 public:
  virtual ~TimeZone() = default;
  // Local time minus UTC at an instant.
  [[nodiscard]] virtual Duration offset(Timestamp at) const = 0;
};

class TimeZones {
 public:
  virtual ~TimeZones() = default;
  // By IANA name ("Europe/Moscow"); null where there is no such zone.
  [[nodiscard]] virtual std::shared_ptr<const TimeZone> find(std::string_view name) const = 0;
};

// Days since 1970-01-01 of the local date at an instant. A null zone is UTC.
std::int64_t local_day(const TimeZone* zone, Timestamp at);

// The first instant of a local day: local midnight, or the end of the gap that swallowed it.
Timestamp begin_of_day(const TimeZone* zone, std::int64_t day);

}  // namespace outcomed
