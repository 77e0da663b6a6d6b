// Wall-clock instants and spans. Nothing below daemon/ asks what time it is.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "queries/base/result.h"

namespace outcomed {

using Duration = std::chrono::milliseconds;
using Timestamp = std::chrono::sys_time<Duration>;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""h;

// Half-open [begin, end). A counter sample taken at `end` still tells what happened before it,
// so readers of counters book it into the range that ends there.
struct TimeRange {
  Timestamp begin;
  Timestamp end;

  [[nodiscard]] Duration length() const { return end - begin; }
  [[nodiscard]] bool contains(Timestamp t) const { return begin <= t && t < end; }
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

constexpr Timestamp from_unix_ms(std::int64_t ms) { return Timestamp(Duration(ms)); }
constexpr std::int64_t unix_ms(Timestamp t) { return t.time_since_epoch().count(); }

// The largest multiple of `step` since the epoch that is not after `t`.
Timestamp floor_to(Timestamp t, Duration step);

// "2026-11-30T12:04:00Z"; milliseconds are printed only where there are some.
std::string format_rfc3339(Timestamp t);
// RFC 3339 with any offset; also a bare date ("2026-11-30") and Unix seconds ("1796005900.7").
Result<Timestamp> parse_timestamp(std::string_view text);

// Prometheus' syntax: units y w d h m s ms, in that order, each once, whole numbers; bare "0".
// A bare number is an error whose message proposes the unit.
Result<Duration> parse_duration(std::string_view text);
// The shortest exact text in the same syntax: "1h30m", "90s" comes back as "1m30s", zero is "0s".
std::string format_duration(Duration d);

}  // namespace outcomed
