#include "queries/prices/money.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "queries/base/ascii.h"

namespace outcomed {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kDigits = 9;  // Before and behind the point.

bool only_digits(std::string_view text) { return std::ranges::all_of(text, is_digit); }

Error not_money(std::string message) { return {ErrorKind::invalid, std::move(message)}; }

Error what_is_wrong(std::string_view text) {
  if (text.empty()) return not_money("no amount; write for example 2.50");
  if (text.starts_with('-')) {
    return not_money("a price is never negative; write 0 for what costs nothing");
  }
  if (text.find(' ') != std::string_view::npos) {
    return not_money("not an amount; write the number alone: the currency stands once per table");
  }
  if (text.find_first_of("eE") != std::string_view::npos && is_digit(text.front())) {
    return not_money("not an amount; write digits and a point, per million tokens");
  }
  if (text.find(',') != std::string_view::npos) {
    return not_money("not an amount; write a point before the decimals, and no separators");
  }
  return not_money("not an amount; write for example 2.50");
}

std::string grouped(std::string digits) {
  for (std::ptrdiff_t at = std::ssize(digits) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), " ");
  }
  return digits;
}

std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

}  // namespace

Result<Money> parse_money(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view part =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  const bool shaped = !whole.empty() && only_digits(whole) && only_digits(part) &&
                      (point == std::string_view::npos || !part.empty());
  if (!shaped) return what_is_wrong(text);
  if (part.size() > kDigits) {
    return not_money("has more than nine decimals; amounts are per million tokens");
  }
  if (whole.size() > kDigits) return not_money("is too large; at most 999999999");
  std::int64_t nano = 0;
  for (const char c : whole) nano = nano * 10 + (c - '0');
  for (std::size_t i = 0; i < kDigits; ++i)
    nano = nano * 10 + (i < part.size() ? part[i] - '0' : 0);
  return Money{nano};
}

std::pair<std::string_view, std::string_view> split_currency(std::string_view text) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return {text, {}};
  return {text.substr(0, blank), text.substr(blank + 1)};
}

bool is_currency(std::string_view text) {
  return text.size() == 3 && std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

Money money_of(double units) {
  const double nano = units * static_cast<double>(kNanoPerUnit);
  if (std::isnan(nano)) return {};
  constexpr double kEdge = 9.2e18;
  return {nano >= kEdge    ? kLargest
          : nano <= -kEdge ? -kLargest
                           : static_cast<std::int64_t>(std::llround(nano))};
}

std::string format_exact(Money amount) {
  const std::uint64_t nano = magnitude(amount.nano);
  std::string text = fmt::format("{}{}.{:09}", amount.nano < 0 ? "-" : "", nano / kNanoPerUnit,
                                 nano % kNanoPerUnit);
  const std::size_t shortest = text.find('.') + 3;
  while (text.size() > shortest && text.back() == '0') text.pop_back();
  return text;
}

std::string format_money(Money amount) {
  if (amount.nano == 0) return "0";
  const std::uint64_t nano = magnitude(amount.nano);
  const std::string sign = amount.nano < 0 ? "-" : "";
  constexpr std::uint64_t kUnit = kNanoPerUnit;
  if (nano >= kUnit) {
    const std::uint64_t cents = (nano + kUnit / 200) / (kUnit / 100);
    return fmt::format("{}{}.{:02}", sign, grouped(std::to_string(cents / 100)), cents % 100);
  }
  std::uint64_t step = 1;  // Four significant digits.
  while (nano / step >= 10'000) step *= 10;
  const std::uint64_t rounded = (nano + step / 2) / step * step;
  return sign + format_exact({static_cast<std::int64_t>(rounded)});
}

std::string format_count(std::int64_t count) {
  return (count < 0 ? "-" : "") + grouped(std::to_string(magnitude(count)));
}

std::int64_t scale(std::int64_t a, std::int64_t b, std::int64_t c) {
  const Wide product = Wide(a) * Wide(b);
  const Wide half = c / 2;
  const Wide quotient = (product < 0 ? product - half : product + half) / Wide(c);
  if (quotient > kLargest) return kLargest;
  if (quotient < -Wide(kLargest)) return -kLargest;
  return static_cast<std::int64_t>(quotient);
}

std::int64_t add_held(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? -kLargest : kLargest;
}

}  // namespace outcomed
