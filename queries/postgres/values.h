// Values of rows as PostgreSQL prints them.
#pragma once

#include <cstdint>
#include <string_view>

#include "queries/base/result.h"
#include "queries/base/time.h"
#include "queries/base/time_zone.h"

namespace outcomed {

// "2026-11-30 02:35:46.381+00", "2026-11-30 02:35:46" and "2026-11-30" (local in `zone`; null:
// UTC), Unix seconds. Where clocks are put back the first of the two times is meant; a time that
// clocks skip is the one an hour later. Errors (invalid) say what is wrong: infinity, BC, not a
// time.
Result<Timestamp> parse_sql_time(std::string_view text, const TimeZone* zone);

// A whole number from 0 to 2^63 − 1, however it is typed: "12", "12.000", "1.2e3". Errors
// (invalid): NaN, negative, a fraction, too large, not a number.
Result<std::int64_t> parse_sql_count(std::string_view text);

// An instant for a parameter: "2026-11-30 00:00:00.000+03:00" in `zone`, so that it is also the
// right day where the server takes it for a date.
std::string sql_time(Timestamp at, const TimeZone* zone);

}  // namespace outcomed
