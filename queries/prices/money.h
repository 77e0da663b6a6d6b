// Amounts of one currency, exact: whole thousand-millionths (nano-units), never floating point.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "queries/base/result.h"

namespace outcomed {

struct Money {
  std::int64_t nano = 0;

  friend auto operator<=>(const Money&, const Money&) = default;
};

inline constexpr std::int64_t kNanoPerUnit = 1'000'000'000;

// "2.50" -> 2 500 000 000 nano-units: digits, at most nine before and nine behind the point. No
// sign, exponent, separator or currency; the message says which of them is there and what to write.
Result<Money> parse_money(std::string_view text);

// "2.50 USD" as "2.50" and "USD"; the second is empty where there is no blank.
std::pair<std::string_view, std::string_view> split_currency(std::string_view text);

// Three capital letters, as in ISO 4217.
bool is_currency(std::string_view text);

// What databases hold as a double: the nearest nano-unit. Not a number is 0, what is out of range
// becomes the largest amount there is.
Money money_of(double units);

// The exact amount without superfluous zeros, with at least two digits behind the point: "2.50",
// "0.135".
std::string format_exact(Money amount);
// For people: two digits behind the point, four significant digits below one unit: "12.40",
// "1 204.50", "0.03521", "0".
std::string format_money(Money amount);
// 1204 -> "1 204".
std::string format_count(std::int64_t count);

// a · b / c, rounded half away from zero, without overflow on the way; the result is held at the
// ends of the range. c > 0.
std::int64_t scale(std::int64_t a, std::int64_t b, std::int64_t c);
// Held at the ends of the range.
std::int64_t add_held(std::int64_t a, std::int64_t b);

}  // namespace outcomed
