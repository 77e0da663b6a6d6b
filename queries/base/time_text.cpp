#include "queries/base/time_text.h"

#include "queries/base/ascii.h"

namespace outcomed {

bool skip(std::string_view text, std::size_t& pos, char c) {
  if (pos >= text.size() || text[pos] != c) return false;
  ++pos;
  return true;
}

std::optional<int> read_digits(std::string_view text, std::size_t& pos, std::size_t width) {
  if (pos + width > text.size()) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    if (!is_digit(text[pos + i])) return std::nullopt;
    value = value * 10 + (text[pos + i] - '0');
  }
  pos += width;
  return value;
}

std::optional<Timestamp> read_date(std::string_view text, std::size_t& pos) {
  std::size_t at = pos;
  const auto year = read_digits(text, at, 4);
  if (!year || !skip(text, at, '-')) return std::nullopt;
  const auto month = read_digits(text, at, 2);
  if (!month || !skip(text, at, '-')) return std::nullopt;
  const auto day = read_digits(text, at, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  pos = at;
  return Timestamp(std::chrono::sys_days(date).time_since_epoch());
}

}  // namespace outcomed
