#include "tests/support/gateway_sim/number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace outcomed::sim {

void append_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
    return;
  }
  std::array<char, 64> buffer;
  const double size = std::fabs(value);
  const bool fixed = value == 0 || (size >= 1e-4 && size < 1e16);
  const auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format).ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const auto dot = std::min(text.find('.'), text.size());
  if (!fixed || value <= 0 || dot <= 6) {
    out += text;
    if (fixed && dot == text.size()) out += ".0";
    return;
  }
  // floatToGoString: "2718281.5" -> "2.7182815e+06"; the exponent is "+0" and a number of any
  // length.
  std::string mantissa(text.substr(0, 1));
  mantissa += '.';
  mantissa += text.substr(1, dot - 1);
  if (dot < text.size()) mantissa += text.substr(dot + 1);
  mantissa.erase(mantissa.find_last_not_of("0.") + 1);
  out += mantissa + "e+0" + std::to_string(dot - 1);
}

}  // namespace outcomed::sim
