#include "alerts/http_answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "alerts/text.h"

namespace outcomed {
namespace {

constexpr Duration kLongestWait = std::chrono::hours(24 * 365);

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Reads the parts of an HTTP date from left to right; after the first misfit ok() is false.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : rest_(text) {}

  void literal(std::string_view text) {
    if (!rest_.starts_with(text)) return fail();
    rest_.remove_prefix(text.size());
  }
  int digits(std::size_t width) {
    int value = 0;
    if (rest_.size() < width) return fail(), 0;
    for (std::size_t i = 0; i < width; ++i) {
      const char c = rest_[i];
      if (c < '0' || c > '9') return fail(), 0;
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(width);
    return value;
  }
  unsigned month() {
    const auto at = std::ranges::find(kMonths, rest_.substr(0, 3));
    if (at == kMonths.end()) return fail(), 0U;
    rest_.remove_prefix(3);
    return static_cast<unsigned>(at - kMonths.begin()) + 1;
  }
  Duration clock() {
    const int hour = digits(2);
    literal(":");
    const int minute = digits(2);
    literal(":");
    const int second = digits(2);
    if (hour > 23 || minute > 59 || second > 60) fail();
    return std::chrono::hours(hour) + std::chrono::minutes(minute) + std::chrono::seconds(second);
  }
  void fail() {
    ok_ = false;
    rest_ = {};
  }
  [[nodiscard]] bool accept(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  [[nodiscard]] bool ok() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

struct DateParts {
  int year = 0;
  unsigned month = 0;
  int day = 0;
  Duration clock{};
};

std::optional<Timestamp> time_of(const DateParts& parts) {
  const std::chrono::year_month_day date{std::chrono::year(parts.year),
                                         std::chrono::month(parts.month),
                                         std::chrono::day(static_cast<unsigned>(parts.day))};
  if (!date.ok()) return std::nullopt;
  return Timestamp(std::chrono::sys_days(date)) + parts.clock;
}

// RFC 850's two digits mean the year at most 50 years ahead of now.
int full_year(int two_digits, Timestamp now) {
  const int this_year =
      int(std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(now)).year());
  const int year = this_year / 100 * 100 + two_digits;
  return year > this_year + 50 ? year - 100 : year;
}

// "Sun, 06 Nov 1994 08:49:37 GMT" and "Sunday, 06-Nov-94 08:49:37 GMT", the day's name taken off.
std::optional<Timestamp> after_comma(std::string_view text, Timestamp now) {
  DateReader reader(text);
  DateParts parts;
  parts.day = reader.digits(2);
  const bool dashes = reader.accept("-");
  if (!dashes) reader.literal(" ");
  parts.month = reader.month();
  reader.literal(dashes ? "-" : " ");
  parts.year = dashes ? full_year(reader.digits(2), now) : reader.digits(4);
  reader.literal(" ");
  parts.clock = reader.clock();
  reader.literal(" GMT");
  return reader.ok() ? time_of(parts) : std::nullopt;
}

// asctime: "Sun Nov  6 08:49:37 1994", the day's name taken off.
std::optional<Timestamp> asctime_form(std::string_view text) {
  DateReader reader(text);
  DateParts parts;
  parts.month = reader.month();
  reader.literal(" ");
  parts.day = reader.accept(" ") ? reader.digits(1) : reader.digits(2);
  reader.literal(" ");
  parts.clock = reader.clock();
  reader.literal(" ");
  parts.year = reader.digits(4);
  return reader.ok() ? time_of(parts) : std::nullopt;
}

std::optional<Timestamp> parse_http_date(std::string_view text, Timestamp now) {
  if (const auto comma = text.find(", "); comma <= 9) {  // After the name of a day.
    return after_comma(text.substr(comma + 2), now);
  }
  return text.size() > 4 && text[3] == ' ' ? asctime_form(text.substr(4)) : std::nullopt;
}

SendResult made(SendResult::Outcome outcome, std::string detail) {
  SendResult result;
  result.outcome = outcome;
  result.detail = std::move(detail);
  return result;
}

}  // namespace

std::optional<Duration> parse_retry_after(std::string_view text, Timestamp now) {
  text = trim(text);
  if (text.empty()) return std::nullopt;
  if (text.front() >= '0' && text.front() <= '9') {
    double seconds = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, seconds, std::chars_format::fixed);
    if (stop != end || (error != std::errc() && error != std::errc::result_out_of_range)) {
      return std::nullopt;
    }
    const double longest = std::chrono::duration<double>(kLongestWait).count();
    if (error != std::errc() || seconds > longest) return kLongestWait;
    return Duration(std::llround(std::ceil(seconds * 1000)));
  }
  const auto date = parse_http_date(text, now);
  if (!date) return std::nullopt;
  return std::clamp(std::chrono::duration_cast<Duration>(*date - now), Duration::zero(),
                    kLongestWait);
}

SendResult send_result_of(const Result<HttpResponse>& answer, Timestamp now) {
  using Outcome = SendResult::Outcome;
  if (!answer) return made(Outcome::retry, one_line(repair_utf8(answer.error().message)));
  const int status = answer->status;
  if (status >= 200 && status < 300)
    return made(Outcome::delivered, fmt::format("HTTP {}", status));
  if (status >= 300 && status < 400) {
    return made(
        Outcome::rejected,
        fmt::format("HTTP {}: redirects are not followed; configure the final URL", status));
  }
  SendResult result =
      made(Outcome::rejected, one_line(repair_utf8(error_of_status(*answer).message)));
  if (status == 408 || status == 429 || status >= 500) {
    result.outcome = Outcome::retry;
    result.throttled = status == 429;
    result.retry_after = parse_retry_after(answer->header("retry-after"), now);
  }
  return result;
}

}  // namespace outcomed
