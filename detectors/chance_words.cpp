#include "detectors/chance_words.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>

#include "detectors/sentence.h"

namespace outcomed {
namespace {

// Two digits; whole below 100.
double rounded(double value) {
  if (value < 100) return std::round(value);
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::round(value / unit) * unit;
}

}  // namespace

std::string format_count(double value) {
  std::string text = fmt::format("{:.0f}", value);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string format_once_in(double days) {
  if (!(days >= 1.5)) return "every day";
  if (days < 10'000) return fmt::format("once in {} days", format_count(rounded(days)));
  const double years = days / 365.25;
  if (years >= 1'000) return "less than once in 1,000 years";
  return fmt::format("once in {} years", format_count(rounded(years)));
}

std::string days_text(std::int64_t days) {
  return fmt::format("{} day{}", days, days == 1 ? "" : "s");
}

std::string why_unseen(Judgement judgement, const std::string& day, double seen) {
  switch (judgement) {
    case Judgement::no_data:
      return fmt::format("nobody looked on {}", day);
    case Judgement::partial:
      return fmt::format("only {} of {} was seen: not judged", format_share(seen), day);
    case Judgement::failed:
      return fmt::format("the numbers of {} can't be trusted: not judged", day);
    default:
      return "";
  }
}

}  // namespace outcomed
