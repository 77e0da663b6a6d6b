#include "queries/exposition/text_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "queries/exposition/label_text.h"

namespace outcomed {
namespace {

// Years 1 to 9999: what is outside is rather a fault than a time.
constexpr double kMaxTimestampMs = 253'402'300'799'999.0;

constexpr auto kNameChars = [] {
  std::array<bool, 256> table{};
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = true;
  for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = true;
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = true;
  table['_'] = table[':'] = true;
  return table;
}();

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::size_t skip_blanks(std::string_view text, std::size_t pos) {
  while (pos < text.size() && is_blank(text[pos])) ++pos;
  return pos;
}

std::size_t name_end(std::string_view text, std::size_t pos) {
  if (pos < text.size() && text[pos] >= '0' && text[pos] <= '9') return pos;
  while (pos < text.size() && kNameChars[static_cast<unsigned char>(text[pos])]) ++pos;
  return pos;
}

// The word at `pos`, up to a blank or the end; moves behind it.
std::string_view word(std::string_view text, std::size_t& pos) {
  const std::size_t begin = pos;
  while (pos < text.size() && !is_blank(text[pos])) ++pos;
  return text.substr(begin, pos - begin);
}

// Go's number syntax before 1.13, as Prometheus reads it: no hex, no underscores; "1.2e+010" is 12
// thousand millions. Too large for a double is a fault, too small is 0.
bool read_number(std::string_view text, double& value) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  if (text.empty() || text.back() == ')') return false;  // from_chars knows "nan(…)".
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (rest != end) return false;
  if (error == std::errc::result_out_of_range) {
    const std::size_t exponent = text.find_first_of("eE");
    if (exponent == std::string_view::npos || !text.substr(exponent + 1).starts_with('-')) {
      return false;
    }
    value = 0;
    return true;
  }
  return error == std::errc();
}

bool read_timestamp(std::string_view text, TextFormat format, std::int64_t& at_ms) {
  if (format == TextFormat::prometheus) {
    if (text.starts_with('+')) text.remove_prefix(1);
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, at_ms);
    return rest == end && error == std::errc() &&
           std::fabs(static_cast<double>(at_ms)) <= kMaxTimestampMs;
  }
  double seconds = 0;
  if (!read_number(text, seconds)) return false;
  const double ms = seconds * 1000;
  if (!(std::fabs(ms) <= kMaxTimestampMs)) return false;  // NaN too.
  at_ms = std::llround(ms);
  return true;
}

// Up to 60 printable characters of what was found.
std::string excerpt(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 60)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  if (text.size() > 60) out += "…";
  return out;
}

}  // namespace

Labels TextSample::labels() const {
  Labels labels;
  LabelWalk walk(labels_text);
  while (walk.next()) {
    if (!walk.is_metric_name())
      labels.set(unescape_label(walk.name()), unescape_label(walk.value()));
  }
  labels.set("__name__", unescape_label(name));
  return labels;
}

std::string_view TextSample::key(std::string& scratch) const {
  if (ordered) return series;
  scratch = labels().to_string();
  return scratch;
}

TextParser::TextParser(TextFormat format, Wants wants, OnSample on_sample)
    : format_(format), wants_(std::move(wants)), on_sample_(std::move(on_sample)) {}

Error TextParser::bad(std::string_view what) const {
  return {ErrorKind::corrupt, fmt::format("line {}: {}", line_, what)};
}

Status TextParser::feed(std::string_view piece) {
  if (failed_) return *failed_;
  Status status = ok();
  while (status && !piece.empty()) {
    const void* hit = std::memchr(piece.data(), '\n', piece.size());
    const std::size_t length =
        hit == nullptr ? piece.size()
                       : static_cast<std::size_t>(static_cast<const char*>(hit) - piece.data());
    if (carry_.size() + length > kMaxLine) {
      ++line_;
      status = bad("longer than 1 MiB");
    } else if (hit == nullptr) {
      carry_ += piece;
    } else if (carry_.empty()) {
      status = read_line(piece.substr(0, length));
    } else {
      carry_ += piece.substr(0, length);
      status = read_line(carry_);
      carry_.clear();
    }
    piece.remove_prefix(hit == nullptr ? length : length + 1);
  }
  if (!status) failed_ = status.error();
  return status;
}

Status TextParser::finish() {
  if (failed_) return *failed_;
  if (format_ == TextFormat::openmetrics) {
    // "# EOF" may end the file without a newline.
    if (!carry_.empty()) {
      if (Status status = read_line(std::exchange(carry_, {})); !status) {
        failed_ = status.error();
        return status;
      }
    }
    if (!eof_) {
      failed_ = bad("the last line is not \"# EOF\": the file was cut off");
      return *failed_;
    }
  } else if (!carry_.empty()) {
    ++line_;
    failed_ = bad("the page ends in the middle of a line: it was cut off");
    return *failed_;
  }
  return ok();
}

Status TextParser::read_line(std::string_view line) {
  ++line_;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const std::size_t begin = skip_blanks(line, 0);
  if (begin == line.size()) return ok();
  if (format_ == TextFormat::openmetrics && eof_) return bad("something follows \"# EOF\"");
  if (line[begin] != '#') return read_sample(line.substr(begin));
  if (line.substr(begin) == "# EOF") eof_ = true;
  return ok();
}

bool TextParser::wanted(std::string_view name) {
  if (name != last_name_) {
    last_wanted_ = wants_(name);
    last_name_ = name;
  }
  return last_wanted_;
}

Status TextParser::read_sample(std::string_view line) {
  TextSample sample;
  std::size_t pos = name_end(line, 0);
  sample.name = line.substr(0, pos);
  sample.series = sample.name;
  if (!sample.name.empty() && !wanted(sample.name)) return ok();
  if (std::memchr(line.data(), 0, line.size()) != nullptr) return bad("holds a NUL byte");
  pos = skip_blanks(line, pos);
  if (pos < line.size() && line[pos] == '{') {
    if (Status status = read_braces(line, pos, sample); !status) return status;
    if (line[0] == '{' && !sample.name.empty() && !wanted(sample.name)) return ok();
  }
  if (sample.name.empty()) {
    return bad(fmt::format("expected a metric name, found \"{}\"", excerpt(line)));
  }
  if (Status status = read_value(line, pos, sample); !status) return status;
  Status status = on_sample_(sample);
  if (!status) return std::move(status).error().while_doing(fmt::format("line {}", line_));
  return status;
}

Status TextParser::read_braces(std::string_view line, std::size_t& pos, TextSample& sample) const {
  LabelWalk walk(line, pos + 1);
  std::string_view before;
  std::size_t count = 0;
  while (walk.next()) {
    if (walk.is_metric_name()) {
      if (!sample.name.empty() || count > 0) return bad("a quoted text without = among the labels");
      sample.name = walk.value();
      continue;
    }
    if (++count > kMaxLabels) return bad(fmt::format("more than {} labels", kMaxLabels));
    if (walk.name() <= before) sample.ordered = false;
    before = walk.name();
  }
  if (walk.fault() != nullptr) return bad(walk.fault());
  if (walk.position() >= line.size()) return bad("the label braces aren't closed");
  sample.labels_text = line.substr(pos + 1, walk.position() - pos - 1);
  pos = walk.position() + 1;
  sample.series = line.substr(0, pos);
  // Names that ascend are unique; only the others need a look.
  return sample.ordered ? ok() : check_unique(sample.labels_text);
}

Status TextParser::check_unique(std::string_view labels_text) const {
  std::vector<std::string_view> names;
  LabelWalk walk(labels_text);
  while (walk.next()) {
    if (!walk.is_metric_name()) names.push_back(walk.name());
  }
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end()) return ok();
  return bad(fmt::format("the label {} stands twice", excerpt(*twice)));
}

Status TextParser::read_value(std::string_view line, std::size_t pos, TextSample& sample) const {
  const std::size_t value_at = skip_blanks(line, pos);
  if (value_at == line.size()) return bad("there is no value");
  if (value_at == pos && line[pos - 1] != '}' && !is_blank(line[pos - 1])) {
    return bad(fmt::format("\"{}\" follows the name", excerpt(line.substr(pos))));
  }
  pos = value_at;
  const std::string_view value = word(line, pos);
  if (!read_number(value, sample.value)) {
    return bad(fmt::format("\"{}\" is not a number", excerpt(value)));
  }
  pos = skip_blanks(line, pos);
  const bool exemplars = format_ == TextFormat::openmetrics;
  if (pos < line.size() && !(exemplars && line[pos] == '#')) {
    const std::string_view at = word(line, pos);
    std::int64_t at_ms = 0;
    if (!read_timestamp(at, format_, at_ms)) {
      return bad(fmt::format("\"{}\" is not a timestamp in {}", excerpt(at),
                             exemplars ? "seconds" : "milliseconds"));
    }
    sample.at_ms = at_ms;
    pos = skip_blanks(line, pos);
  }
  if (pos < line.size() && !(exemplars && line[pos] == '#')) {
    return bad(fmt::format("\"{}\" follows the value", excerpt(line.substr(pos))));
  }
  return ok();
}

}  // namespace outcomed
