#include "queries/prices/calendar.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

namespace outcomed {
namespace {

constexpr std::size_t kDayMinutes = 24 * 60;
constexpr std::array<std::string_view, 7> kDays = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr std::string_view kExample = "write for example mon-fri 00:30-16:30";

Error bad_span(std::string_view what, std::string_view remedy = kExample) {
  return {ErrorKind::invalid, fmt::format("{}; {}", what, remedy)};
}

std::optional<std::size_t> day_of(std::string_view word) {
  const auto found = std::ranges::find(kDays, word);
  if (found == kDays.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kDays.begin());
}

// "mon", "mon-fri", "fri-mon".
bool add_days(std::string_view text, std::bitset<7>& days) {
  const std::size_t dash = text.find('-');
  const auto first = day_of(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : day_of(text.substr(dash + 1));
  if (!first || !last) return false;
  for (std::size_t day = *first;; day = (day + 1) % 7) {
    days.set(day);
    if (day == *last) return true;
  }
}

// "16:30" -> minutes; "24:00" too.
std::optional<std::size_t> minute_of(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  std::size_t number[2] = {};
  for (const std::size_t i : {0U, 1U, 3U, 4U}) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    number[i / 3] = number[i / 3] * 10 + static_cast<std::size_t>(text[i] - '0');
  }
  const std::size_t minute = number[0] * 60 + number[1];
  if (number[1] > 59 || minute > kDayMinutes) return std::nullopt;
  return minute;
}

}  // namespace

Status WeeklyHours::add(std::string_view span) {
  std::bitset<7> days;
  std::string_view hours = span;
  if (const std::size_t blank = span.find(' '); blank != std::string_view::npos) {
    std::string_view list = span.substr(0, blank);
    hours = span.substr(blank + 1);
    while (true) {
      const std::size_t comma = list.find(',');
      if (!add_days(list.substr(0, comma), days)) {
        return bad_span("no such weekday",
                        "write mon tue wed thu fri sat sun, as in mon-fri or sat,sun");
      }
      if (comma == std::string_view::npos) break;
      list.remove_prefix(comma + 1);
    }
  } else {
    days.set();
  }
  const std::size_t dash = hours.find('-');
  if (dash == std::string_view::npos) return bad_span("no hours");
  const auto begin = minute_of(hours.substr(0, dash));
  const auto end = minute_of(hours.substr(dash + 1));
  if (!begin || !end || *begin == kDayMinutes) {
    return bad_span("not two times of day",
                    "write hours and minutes of two digits each, as in 00:30-16:30");
  }
  if (*begin == *end) return bad_span("begins when it ends", "write 00:00-24:00 for a whole day");
  const std::size_t length = *end > *begin ? *end - *begin : *end + kDayMinutes - *begin;
  for (std::size_t day = 0; day < 7; ++day) {
    if (!days[day]) continue;
    for (std::size_t i = 0; i < length; ++i) {
      peak_.set((day * kDayMinutes + *begin + i) % kMinutes);
    }
  }
  return ok();
}

bool PriceCalendar::is_peak(Timestamp at) const {
  constexpr std::int64_t kMinuteMs = 60'000;
  constexpr std::int64_t kWeekMs = 7LL * 24 * 60 * kMinuteMs;
  // The epoch was a Thursday: three days into the week.
  constexpr std::int64_t kEpoch = 3LL * 24 * 60 * kMinuteMs;
  const std::int64_t offset = zone == nullptr ? 0 : zone->offset(at).count();
  const std::int64_t local =
      ((unix_ms(at) % kWeekMs + offset + kEpoch) % kWeekMs + kWeekMs) % kWeekMs;
  return peak.holds(static_cast<std::size_t>(local / kMinuteMs));
}

}  // namespace outcomed
