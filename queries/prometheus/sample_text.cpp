#include "queries/prometheus/sample_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "queries/base/ascii.h"
#include "queries/prometheus/simdjson_codes.h"

namespace outcomed {
namespace {

constexpr std::int64_t kFirstMs = -62'135'596'800'000;  // 0001-01-01
constexpr std::int64_t kLastMs = 253'402'300'799'999;   // 9999-12-31
constexpr std::size_t kExactDigits = 15;                // An integer so long is exact as a double.

static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);

bool parse_special(std::string_view text, double& value) {
  bool negative = false;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  } else if (text == "NaN") {
    value = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  if (text != "Inf" && text != "Infinity") return false;
  value =
      negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  return true;
}

}  // namespace

bool parse_sample_value(std::string_view text, double& value) {
  if (text.empty()) return false;
  // Counters are whole numbers: 5 times faster than the general case.
  if (text.size() <= kExactDigits) {
    std::uint64_t whole = 0;
    std::size_t at = 0;
    for (; at < text.size() && is_digit(text[at]); ++at) {
      whole = whole * 10 + static_cast<std::uint64_t>(text[at] - '0');
    }
    if (at == text.size()) {
      value = static_cast<double>(whole);
      return true;
    }
  }
  std::string_view digits = text;
  if (digits.front() == '-' || digits.front() == '+') digits.remove_prefix(1);
  // from_chars also reads "nan(…)" and "infinity"; servers write these in few forms only.
  if (digits.empty() || !(is_digit(digits.front()) || digits.front() == '.')) {
    return parse_special(text, value);
  }
  double parsed = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed);
  if (error != std::errc() || end != digits.data() + digits.size()) return false;
  value = text.front() == '-' ? -parsed : parsed;
  return true;
}

bool is_sample_time(std::int64_t at_ms) { return kFirstMs <= at_ms && at_ms <= kLastMs; }

bool sample_time(double seconds, std::int64_t& at_ms) {
  const double ms = seconds * 1000;
  // Written so that NaN fails.
  if (!(ms >= double(kFirstMs) && ms <= double(kLastMs))) return false;
  at_ms = std::llround(ms);
  return true;
}

std::string excerpt(std::string_view text, std::size_t limit) {
  std::string out;
  for (const char c : text.substr(0, limit)) {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  if (text.size() > limit) {  // The cut may lie inside a character: leave that one out.
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0) out.pop_back();
  }
  if (!simdjson::validate_utf8(out)) {
    std::ranges::replace_if(
        out, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  }
  if (text.size() > limit) out += "…";
  return out;
}

struct LabelParser::State {
  simdjson::ondemand::parser parser;
};

LabelParser::LabelParser() : state_(std::make_unique<State>()) {}
LabelParser::~LabelParser() = default;
LabelParser::LabelParser(LabelParser&&) noexcept = default;
LabelParser& LabelParser::operator=(LabelParser&&) noexcept = default;

Result<Labels> LabelParser::parse(std::string_view json) {
  const auto bad = [&] {
    return Error{ErrorKind::corrupt,
                 fmt::format("labels are not an object of strings: {}", excerpt(json))};
  };
  namespace od = simdjson::ondemand;
  od::document document;
  od::object object;
  Labels labels;
  if (state_->parser.iterate(json.data(), json.size(), json.size() + kJsonPadding).get(document) ||
      document.get_object().get(object)) {
    return bad();
  }
  for (auto entry : object) {
    std::string_view name;
    std::string_view value;
    od::field field;
    if (std::move(entry).get(field) || field.unescaped_key().get(name) ||
        field.value().get_string().get(value)) {
      return bad();
    }
    labels.set(std::string(name), std::string(value));
  }
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) return bad();
  return labels;
}

Error not_json(std::string_view body, std::string_view expected) {
  const auto first = body.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {ErrorKind::corrupt, "the answer is empty"};
  const std::string_view text = body.substr(first);
  if (text.front() == '<') {
    return {ErrorKind::corrupt,
            fmt::format("the answer is a web page, not {}: is `url` the address of the API, and "
                        "does it ask for a login? It begins: {}",
                        expected, excerpt(text, 120))};
  }
  return {ErrorKind::corrupt,
          fmt::format("the answer is not {}; it begins: {}", expected, excerpt(text, 120))};
}

}  // namespace outcomed
