#include "queries/postgres/values.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "queries/base/ascii.h"
#include "queries/base/time_text.h"

namespace outcomed {
namespace {

constexpr std::size_t kShown = 40;
// Above it not every whole number is a double.
constexpr double kLargestExact = 9007199254740992.0;

Error not_a(std::string_view what, std::string_view text, std::string_view why) {
  return {ErrorKind::invalid, fmt::format("\"{}\" is no {}{}", text.substr(0, kShown), what, why)};
}

std::optional<Duration> read_clock(std::string_view text, std::size_t& at) {
  const auto hour = read_digits(text, at, 2);
  if (!hour || !skip(text, at, ':')) return std::nullopt;
  const auto minute = read_digits(text, at, 2);
  if (!minute || !skip(text, at, ':')) return std::nullopt;
  const auto second = read_digits(text, at, 2);
  if (!second) return std::nullopt;
  Duration clock =
      std::chrono::hours(*hour) + std::chrono::minutes(*minute) + std::chrono::seconds(*second);
  if (!skip(text, at, '.')) return clock;
  for (std::int64_t scale = 100; at < text.size() && is_digit(text[at]); ++at, scale /= 10) {
    clock += Duration((text[at] - '0') * scale);
  }
  return clock;
}

// "+03", "-03:30", "+00:00:12", "Z".
std::optional<Duration> read_offset(std::string_view text, std::size_t& at) {
  if (skip(text, at, 'Z')) return Duration::zero();
  const bool minus = at < text.size() && text[at] == '-';
  if (!skip(text, at, minus ? '-' : '+')) return std::nullopt;
  const auto hours = read_digits(text, at, 2);
  if (!hours) return std::nullopt;
  Duration offset = std::chrono::hours(*hours);
  if (skip(text, at, ':')) {
    const auto minutes = read_digits(text, at, 2);
    if (!minutes) return std::nullopt;
    offset += std::chrono::minutes(*minutes);
  }
  if (skip(text, at, ':')) {
    const auto seconds = read_digits(text, at, 2);
    if (!seconds) return std::nullopt;
    offset += std::chrono::seconds(*seconds);
  }
  return minus ? -offset : offset;
}

// The instant at which clocks of the zone show `wall` first.
Timestamp from_wall(Timestamp wall, const TimeZone* zone) {
  if (zone == nullptr) return wall;
  // Offsets before and after any change nearby.
  const Duration before = zone->offset(wall - std::chrono::hours(24));
  const Duration after = zone->offset(wall + std::chrono::hours(24));
  for (const Duration offset : {before, after}) {
    if (zone->offset(wall - offset) == offset) return wall - offset;
  }
  return wall - before;  // Skipped.
}

std::optional<Timestamp> read_time(std::string_view text, const TimeZone* zone) {
  std::size_t at = 0;
  const auto date = read_date(text, at);
  if (!date) return std::nullopt;
  if (at == text.size()) return from_wall(*date, zone);
  if (!skip(text, at, ' ') && !skip(text, at, 'T')) return std::nullopt;
  const auto clock = read_clock(text, at);
  if (!clock) return std::nullopt;
  if (at == text.size()) return from_wall(*date + *clock, zone);
  const auto offset = read_offset(text, at);
  if (!offset || at != text.size()) return std::nullopt;
  return *date + *clock - *offset;
}

}  // namespace

Result<Timestamp> parse_sql_time(std::string_view text, const TimeZone* zone) {
  if (const auto time = read_time(text, zone)) return *time;
  if (text.ends_with(" BC")) return not_a("time", text, ": it lies before our era");
  if (text.ends_with("infinity")) return not_a("time", text, " that can be counted");
  if (const auto seconds = parse_timestamp(text)) return *seconds;
  return not_a("time", text, ": return a timestamp, a date or Unix seconds");
}

Result<std::int64_t> parse_sql_count(std::string_view text) {
  std::int64_t whole = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, whole);
  if (error == std::errc() && end == last) {
    if (whole < 0) return not_a("count", text, ": it is negative");
    return whole;
  }
  double value = 0;
  const auto [stop, fault] = std::from_chars(text.data(), last, value);
  if (fault != std::errc() || stop != last || text.empty()) return not_a("count", text, "");
  if (!std::isfinite(value)) return not_a("count", text, ": it is not finite");
  if (value < 0) return not_a("count", text, ": it is negative");
  if (value != std::floor(value)) return not_a("count", text, ": it has a fraction");
  if (value > kLargestExact) return not_a("count", text, ": it is too large");
  return static_cast<std::int64_t>(value);
}

std::string sql_time(Timestamp at, const TimeZone* zone) {
  const Duration offset = zone == nullptr ? Duration::zero() : zone->offset(at);
  const Timestamp wall = at + offset;
  const auto day = std::chrono::floor<std::chrono::days>(wall);
  const std::chrono::year_month_day date(day);
  const std::int64_t ms = (wall - day).count();
  const std::int64_t seconds = std::abs(offset.count()) / 1000;
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03}{}{:02}:{:02}:{:02}",
                     static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()), ms / 3'600'000, ms / 60'000 % 60,
                     ms / 1000 % 60, ms % 1000, offset < Duration::zero() ? '-' : '+',
                     seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace outcomed
