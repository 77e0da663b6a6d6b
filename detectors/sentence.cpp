#include "detectors/sentence.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "detectors/stats/intervals.h"
#include "queries/error_class.h"

namespace outcomed {

std::string format_share(double share) {
  const double percent = share * 100;
  if (percent <= 0) return "0 %";
  if (percent >= 100) return fmt::format("{:.0f} %", percent);
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

std::string format_amount(const std::vector<std::pair<std::string, std::string>>& facts,
                          std::string_view name, std::int64_t count) {
  for (const auto& [fact, text] : facts) {
    if (fact == name) return text;
  }
  return fmt::format("{}", count);
}

std::string format_since(Timestamp t, Timestamp now) {
  const std::string full = format_rfc3339(t);  // 2026-11-30T12:04:00Z
  const std::string clock = full.substr(11, 5) + " UTC";
  return now - t > std::chrono::hours(12) ? full.substr(0, 10) + " " + clock : clock;
}

std::string printable(std::string_view text) {
  std::string clean;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool c1 = byte == 0xc2 && i + 1 < text.size() &&
                    (static_cast<unsigned char>(text[i + 1]) & 0xe0) == 0x80;
    if (c1) ++i;
    clean += c1 || byte < 0x20 || byte == 0x7f ? '?' : text[i];
  }
  return clean;
}

// Sentences end up on terminals, in logs and in mail: a label's value is text there, nothing else.
std::string subject(const Labels& group) {
  std::string head;
  std::string rest;
  for (const auto& [name, value] : group.pairs()) {
    if (name == "model") {
      head = printable(value);
      continue;
    }
    if (name == "error_class" && !error_class::phrase(value).empty()) continue;
    if (!rest.empty()) rest += ", ";
    rest += fmt::format("{}={}", name, printable(value));
  }
  if (head.empty() && rest.empty()) return "whole gateway";
  if (head.empty()) return rest;
  return rest.empty() ? head : fmt::format("{} ({})", head, rest);
}

Interval wilson(std::int64_t k, std::int64_t n) {
  return wilson_interval(static_cast<double>(k), static_cast<double>(n));
}

}  // namespace outcomed
