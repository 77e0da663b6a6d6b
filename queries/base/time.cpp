#include "queries/base/time.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "queries/base/ascii.h"
#include "queries/base/time_text.h"

namespace outcomed {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ms;
};

constexpr std::array<Unit, 7> kUnits = {{{"y", 365LL * 86'400'000},
                                         {"w", 7LL * 86'400'000},
                                         {"d", 86'400'000},
                                         {"h", 3'600'000},
                                         {"m", 60'000},
                                         {"s", 1'000},
                                         {"ms", 1}}};

// "hh:mm[:ss[.fff…]]" at `pos`.
std::optional<Duration> parse_clock(std::string_view text, std::size_t& pos) {
  const auto hour = read_digits(text, pos, 2);
  if (!hour || !skip(text, pos, ':')) return std::nullopt;
  const auto minute = read_digits(text, pos, 2);
  if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
  Duration total = std::chrono::hours(*hour) + std::chrono::minutes(*minute);
  if (skip(text, pos, ':')) {
    const auto second = read_digits(text, pos, 2);
    if (!second || *second > 60) return std::nullopt;
    total += std::chrono::seconds(*second);
    if (skip(text, pos, '.')) {
      std::int64_t scale = 100;
      if (pos >= text.size() || !is_digit(text[pos])) return std::nullopt;
      for (; pos < text.size() && is_digit(text[pos]); ++pos, scale /= 10) {
        total += Duration((text[pos] - '0') * scale);
      }
    }
  }
  return total;
}

std::optional<Duration> parse_offset(std::string_view text, std::size_t& pos) {
  if (pos >= text.size()) return Duration::zero();
  const char sign = text[pos++];
  if (sign == 'Z' || sign == 'z') return Duration::zero();
  if (sign != '+' && sign != '-') return std::nullopt;
  const auto offset = parse_clock(text, pos);
  if (!offset) return std::nullopt;
  return sign == '+' ? *offset : -*offset;
}

std::optional<Timestamp> parse_rfc3339(std::string_view text) {
  std::size_t pos = 0;
  const auto date = read_date(text, pos);
  if (!date) return std::nullopt;
  if (pos == text.size()) return date;
  if (text[pos] != 'T' && text[pos] != 't' && text[pos] != ' ') return std::nullopt;
  ++pos;
  const auto clock = parse_clock(text, pos);
  if (!clock) return std::nullopt;
  const auto offset = parse_offset(text, pos);
  if (!offset || pos != text.size()) return std::nullopt;
  return *date + *clock - *offset;
}

// Unix seconds from 1970 to 9999; anything else is rather a mistake than a time.
constexpr double kMaxUnixSeconds = 253'402'300'799.0;

}  // namespace

Timestamp floor_to(Timestamp t, Duration step) {
  const std::int64_t ms = unix_ms(t);
  const std::int64_t size = step.count();
  const std::int64_t rest = ((ms % size) + size) % size;
  return from_unix_ms(ms - rest);
}

std::string format_rfc3339(Timestamp t) {
  const auto day = std::chrono::floor<std::chrono::days>(t);
  const std::chrono::year_month_day date(day);
  const std::int64_t ms = (t - day).count();
  const auto fraction = ms % 1000;
  std::string text =
      fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", int(date.year()), unsigned(date.month()),
                  unsigned(date.day()), ms / 3'600'000, ms / 60'000 % 60, ms / 1000 % 60);
  if (fraction != 0) text += fmt::format(".{:03}", fraction);
  return text + "Z";
}

Result<Timestamp> parse_timestamp(std::string_view text) {
  if (const auto t = parse_rfc3339(text)) return *t;
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc() && end == text.data() + text.size() && seconds >= 0 &&
      seconds <= kMaxUnixSeconds) {
    return from_unix_ms(std::llround(seconds * 1000));
  }
  return Error{ErrorKind::invalid,
               fmt::format("\"{}\" is not a time; write 2026-11-30T12:04:00Z or Unix seconds",
                           text.substr(0, 60))};
}

Result<Duration> parse_duration(std::string_view text) {
  const auto fail = [&](std::string_view why) {
    return Error{ErrorKind::invalid,
                 fmt::format("\"{}\" is not a duration{}", text.substr(0, 60), why)};
  };
  if (text == "0") return Duration::zero();
  if (text.empty()) return fail("; write for example 5m");
  std::int64_t total = 0;
  std::size_t next_unit = 0;
  std::size_t pos = 0;
  while (pos < text.size()) {
    std::int64_t value = 0;
    const char* begin = text.data() + pos;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
    if (!is_digit(text[pos])) return fail("; write whole numbers with units, for example 1h30m");
    if (error != std::errc()) return fail(": the number is too large");
    pos += static_cast<std::size_t>(end - begin);
    std::size_t length = 0;
    while (pos + length < text.size() && text[pos + length] >= 'a' && text[pos + length] <= 'z') {
      ++length;
    }
    const std::string_view name = text.substr(pos, length);
    if (name.empty() && pos == text.size()) {
      return fail(fmt::format("; did you mean {}s?", text));
    }
    std::size_t unit = 0;
    while (unit < kUnits.size() && kUnits[unit].name != name) ++unit;
    if (unit == kUnits.size()) return fail("; units are y w d h m s ms, numbers are whole");
    if (unit < next_unit) return fail("; units go from large to small, each once: 1d12h");
    if (value > std::numeric_limits<std::int64_t>::max() / kUnits[unit].ms - 1 ||
        total > std::numeric_limits<std::int64_t>::max() / 2 - value * kUnits[unit].ms) {
      return fail(": it is too long");
    }
    total += value * kUnits[unit].ms;
    next_unit = unit + 1;
    pos += length;
  }
  return Duration(total);
}

std::string format_duration(Duration d) {
  if (d.count() == 0) return "0s";
  std::string text = d.count() < 0 ? "-" : "";
  // Unsigned, because the smallest signed number has no positive twin.
  auto rest = static_cast<std::uint64_t>(d.count());
  if (d.count() < 0) rest = 0 - rest;
  for (const Unit& unit : kUnits) {
    if (unit.name == "y" || unit.name == "w") continue;  // "14d" reads better than "2w".
    const auto size = static_cast<std::uint64_t>(unit.ms);
    if (rest >= size) text += fmt::format("{}{}", rest / size, unit.name);
    rest %= size;
  }
  return text;
}

}  // namespace outcomed
