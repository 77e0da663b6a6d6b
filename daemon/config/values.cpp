#include "daemon/config/values.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <system_error>

#include "daemon/config/words.h"
#include "queries/base/ascii.h"

namespace outcomed {
namespace {

constexpr std::size_t kLongestNumber = 40;

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

// Digits, optionally with a point and more digits.
bool is_decimal(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return all_digits(text);
  return all_digits(text.substr(0, point)) && all_digits(text.substr(point + 1));
}

std::string without(std::string_view text, std::string_view characters) {
  std::string kept;
  for (const char c : text) {
    if (characters.find(c) == std::string_view::npos) kept += c;
  }
  return kept;
}

Error bad_value(std::string message) { return {ErrorKind::invalid, std::move(message)}; }

Error not_a_share(std::string_view text) {
  const std::string name = shown(text);
  std::string tidy = without(text, " ");
  std::ranges::replace(tidy, ',', '.');
  const bool percent = tidy.ends_with('%');
  if (tidy != text && is_decimal(percent ? tidy.substr(0, tidy.size() - 1) : tidy)) {
    return bad_value(fmt::format("{} is not a share; did you mean {}?", name, tidy));
  }
  if (text.starts_with('-')) {
    return bad_value(fmt::format("{} is not a share; shares lie between 0% and 100%", name));
  }
  return bad_value(fmt::format("{} is not a share; write for example 10% or 0.1", name));
}

std::optional<double> decimal(std::string_view digits, std::string_view exponent) {
  const std::string text = std::string(digits) + std::string(exponent);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct SizeUnit {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array<SizeUnit, 5> kSizeUnits = {
    {{"TiB", 1LL << 40}, {"GiB", 1LL << 30}, {"MiB", 1LL << 20}, {"KiB", 1LL << 10}, {"B", 1}}};

// "64MB", "64m" and the like: which unit was meant.
std::string_view meant_unit(std::string_view unit) {
  if (unit.empty()) return "B";
  for (const SizeUnit& known : kSizeUnits) {
    if (known.name.front() == (unit.front() & ~0x20)) return known.name;
  }
  return {};
}

}  // namespace

Result<double> parse_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  const std::string_view digits = percent ? text.substr(0, text.size() - 1) : text;
  if (text.size() > kLongestNumber || !is_decimal(digits)) return not_a_share(text);
  const std::optional<double> value = decimal(digits, percent ? "e-2" : "");
  if (!value) return not_a_share(text);
  if (percent && *value > 1) {
    return bad_value(fmt::format("{} is more than 100%; shares lie between 0% and 100%", text));
  }
  if (!percent && *value == 1 && all_digits(digits)) {
    return bad_value(fmt::format("{} is not a share; did you mean 1% or 100%?", text));
  }
  if (!percent && *value > 100) {
    return bad_value(fmt::format("{} is not a share; shares lie between 0% and 100%", text));
  }
  if (!percent && *value > 1) {
    return bad_value(fmt::format("{} is not a share; did you mean {}%?", text, text));
  }
  return *value;
}

std::string share_text(double share) {
  if (share == 0) return "0%";
  std::array<char, 64> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), share,
                                          std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t e = text.find('e');
  if (error != std::errc() || e == std::string_view::npos) return fmt::format("{}", share);
  const std::string digits = without(text.substr(0, e), ".");
  int exponent = 0;
  const char* from = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(from, text.data() + text.size(), exponent);
  const int point = exponent + 3;  // One digit stands before the point, and percent adds two.
  const int size = static_cast<int>(digits.size());
  if (point <= 0) return "0." + std::string(static_cast<std::size_t>(-point), '0') + digits + "%";
  if (point >= size) return digits + std::string(static_cast<std::size_t>(point - size), '0') + "%";
  return digits.substr(0, static_cast<std::size_t>(point)) + "." +
         digits.substr(static_cast<std::size_t>(point)) + "%";
}

Result<std::int64_t> parse_size(std::string_view text) {
  const std::string name = shown(text);
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length])) ++length;
  const std::string_view unit = text.substr(length);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + length, value);
  if (length == 0 || error == std::errc::invalid_argument) {
    return bad_value(name + " is not a size; write for example 64MiB");
  }
  const auto* known = std::ranges::find(kSizeUnits, unit, &SizeUnit::name);
  if (known == kSizeUnits.end()) {
    const std::string_view meant = meant_unit(unit);
    if (meant.empty() || unit.size() > 3 || unit.starts_with('.')) {
      return bad_value(name + " is not a size; write for example 64MiB");
    }
    return bad_value(
        fmt::format("{} is not a size; did you mean {}{}?", name, text.substr(0, length), meant));
  }
  if (error != std::errc() || value > std::numeric_limits<std::int64_t>::max() / known->bytes) {
    return bad_value(name + " is too large");
  }
  return value * known->bytes;
}

std::string size_text(std::int64_t bytes) {
  for (const SizeUnit& unit : kSizeUnits) {
    if (bytes != 0 && bytes % unit.bytes == 0) {
      return fmt::format("{}{}", bytes / unit.bytes, unit.name);
    }
  }
  return fmt::format("{}B", bytes);
}

Result<std::int64_t> parse_whole_number(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (!all_digits(digits)) {
    const std::string tidy = without(text, "_, ");
    if (tidy != text && all_digits(tidy)) {
      return bad_value(
          fmt::format("{} is not a whole number; did you mean {}?", shown(text), tidy));
    }
    return bad_value(shown(text) + " is not a whole number; write digits only, such as 20");
  }
  if (digits.size() > 1 && digits.front() == '0') {
    std::string_view meant =
        digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1));
    return bad_value(fmt::format("{} is not a plain number; did you mean {}?", shown(text), meant));
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return bad_value(shown(text) + " is too large");
  return value;
}

}  // namespace outcomed
