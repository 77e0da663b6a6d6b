#include "detectors/sentence.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "queries/error_class.h"

namespace outcomed {

std::string format_share(double share) {
  const double percent = share * 100;
  if (percent <= 0) return "0 %";
  if (percent >= 100) return "100 %";
  if (percent < 0.01) return "below 0.01 %";
  if (percent > 99.9) return "above 99.9 %";
  int digits = 0;
  if (percent < 10 || percent > 99) digits = 1;
  if (percent < 1) digits = 2;
  std::string text = fmt::format("{:.{}f}", percent, digits);
  if (text.find('.') != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return text + " %";
}

std::string format_since(Timestamp t, Timestamp now) {
  const std::string full = format_rfc3339(t);  // 2026-11-30T12:04:00Z
  const std::string clock = full.substr(11, 5) + " UTC";
  return now - t > std::chrono::hours(12) ? full.substr(0, 10) + " " + clock : clock;
}

std::string subject(const Labels& group) {
  std::string head;
  std::string rest;
  for (const auto& [name, value] : group.pairs()) {
    if (name == "model") {
      head = value;
      continue;
    }
    if (name == "error_class" && !error_class::phrase(value).empty()) continue;
    if (!rest.empty()) rest += ", ";
    rest += fmt::format("{}={}", name, value);
  }
  if (head.empty() && rest.empty()) return "whole gateway";
  if (head.empty()) return rest;
  return rest.empty() ? head : fmt::format("{} ({})", head, rest);
}

Interval wilson(std::int64_t k, std::int64_t n) {
  if (n <= 0) return {};
  constexpr double z = 1.959963984540054;  // Normal quantile at 0.975.
  const auto total = static_cast<double>(n);
  const double p = static_cast<double>(k) / total;
  const double scale = 1 + z * z / total;
  const double centre = p + z * z / (2 * total);
  const double spread = z * std::sqrt(p * (1 - p) / total + z * z / (4 * total * total));
  return {std::max(0.0, (centre - spread) / scale), std::min(1.0, (centre + spread) / scale)};
}

}  // namespace outcomed
