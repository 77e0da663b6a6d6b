#include "queries/base/time_zone.h"

namespace outcomed {
namespace {

constexpr Duration kDay = std::chrono::hours(24);

}  // namespace

std::int64_t local_day(const TimeZone* zone, Timestamp at) {
  const Duration local = at.time_since_epoch() + (zone == nullptr ? Duration{} : zone->offset(at));
  std::int64_t day = local / kDay;
  if (local < kDay * day) --day;
  return day;
}

Timestamp begin_of_day(const TimeZone* zone, std::int64_t day) {
  const Timestamp wall(kDay * day);
  if (zone == nullptr) return wall;
  // Zones change by an hour or so near midnight, some by a whole day: the earliest instant with
  // this local date lies between these two.
  Timestamp before = wall - kDay - std::chrono::hours(15);
  Timestamp after = wall + kDay + std::chrono::hours(15);
  while (after - before > Duration(1)) {
    const Timestamp middle = before + (after - before) / 2;
    (local_day(zone, middle) >= day ? after : before) = middle;
  }
  return after;
}

}  // namespace outcomed
