#include "queries/prometheus/vm_export.h"

#include <fmt/core.h>

#include <bit>
#include <cstring>
#include <limits>

#include "queries/base/ascii.h"

namespace outcomed {
namespace {

constexpr std::size_t kMessageSample = 120;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
// Reads eight digits at once, by three multiplications instead of eight that wait for each other.
bool eight_digits(const char* text, std::int64_t& value) {
  if constexpr (std::endian::native != std::endian::little) return false;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, text, sizeof bytes);
  constexpr std::uint64_t kHigh = 0xf0f0f0f0f0f0f0f0;
  const std::uint64_t above_nine = (bytes + 0x0606060606060606) & kHigh;
  if (((bytes & kHigh) | above_nine >> 4) != 0x3333333333333333) return false;
  bytes -= 0x3030303030303030;
  bytes = bytes * 10 + (bytes >> 8);  // Pairs, in every other byte.
  constexpr std::uint64_t kPairs = 0x000000ff000000ff;
  bytes = (bytes & kPairs) * (100 + (UINT64_C(1'000'000) << 32)) +
          (bytes >> 16 & kPairs) * (1 + (UINT64_C(10'000) << 32));
  value = static_cast<std::int64_t>(bytes >> 32);
  return true;
}

// Walks one line. A general JSON parser takes longer for these long lists of numbers
// (docs/sources/prometheus.md), so only label objects of new series go to one.
class LineCursor {
 public:
  explicit LineCursor(std::string_view line) : at_(line.data()), end_(at_ + line.size()) {}

  void skip_blanks() {
    while (at_ < end_ && is_blank(*at_)) ++at_;
  }
  bool accept(char c) {
    skip_blanks();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool at_end() {
    skip_blanks();
    return at_ == end_;
  }
  // A string with its escapes as they are; without its quotes.
  bool text(std::string_view& out) {
    if (!accept('"')) return false;
    const char* begin = at_;
    for (; at_ < end_; ++at_) {
      if (*at_ == '\\') {
        if (++at_ == end_) return false;
      } else if (*at_ == '"') {
        out = {begin, static_cast<std::size_t>(at_ - begin)};
        ++at_;
        return true;
      }
    }
    return false;
  }
  // An object without objects in it, with its braces.
  bool flat_object(std::string_view& out) {
    skip_blanks();
    const char* begin = at_;
    if (!accept('{')) return false;
    while (at_ < end_) {
      std::string_view ignored;
      if (*at_ == '"') {
        if (!text(ignored)) return false;
      } else if (*at_ == '{') {
        return false;
      } else if (*at_++ == '}') {
        out = {begin, static_cast<std::size_t>(at_ - begin)};
        return true;
      }
    }
    return false;
  }
  // Up to the comma or bracket that ends a number or a word.
  std::string_view token() {
    skip_blanks();
    const char* begin = at_;
    while (at_ < end_ && *at_ != ',' && *at_ != ']' && !is_blank(*at_)) ++at_;
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }
  bool value(double& out) {
    skip_blanks();
    if (whole(out)) return true;
    std::string_view word;
    if (at_ < end_ && *at_ == '"') return text(word) && parse_sample_value(word, out);
    word = token();
    if (word == "null") {
      out = std::numeric_limits<double>::quiet_NaN();
      return true;
    }
    return parse_sample_value(word, out);
  }
  // The usual case: a whole number that a double holds exactly.
  bool whole(double& out) {
    constexpr int kExactDigits = 15;
    std::uint64_t number = 0;
    const char* next = at_;
    for (; next < end_ && is_digit(*next); ++next) {
      number = number * 10 + static_cast<std::uint64_t>(*next - '0');
    }
    if (next == at_ || next - at_ > kExactDigits || next == end_) return false;
    if (*next != ',' && *next != ']') return false;
    at_ = next;
    out = static_cast<double>(number);
    return true;
  }
  bool time(std::int64_t& out) {
    constexpr int kMaxDigits = 15;  // The year 9999 has 15.
    skip_blanks();
    const bool negative = at_ < end_ && *at_ == '-';
    if (negative) ++at_;
    std::int64_t ms = 0;
    std::ptrdiff_t digits = 0;
    if (end_ - at_ >= 8 && eight_digits(at_, ms)) {
      at_ += 8;
      digits = 8;
    }
    for (; at_ < end_ && is_digit(*at_) && digits <= kMaxDigits; ++at_, ++digits) {
      ms = ms * 10 + (*at_ - '0');
    }
    out = negative ? -ms : ms;
    return digits > 0 && is_sample_time(out);
  }
  // A list whose elements `read` takes one by one.
  template <class Read>
  bool list(Read read) {
    if (!accept('[')) return false;
    if (accept(']')) return true;
    do {
      if (!read()) return false;
    } while (accept(','));
    return accept(']');
  }

 private:
  const char* at_;
  const char* end_;
};

Error bad_line(std::string_view line, std::string_view what) {
  return {ErrorKind::corrupt, fmt::format("not a line of an export: {}; it begins: {}", what,
                                          excerpt(line, kMessageSample))};
}

}  // namespace

Status VmExportDecoder::feed(std::string_view piece) {
  // Most pieces end inside a line: look for its end only in what is new.
  while (!piece.empty()) {
    const auto newline = piece.find('\n');
    if (newline == std::string_view::npos) {
      buffer_ += piece;
      return ok();
    }
    std::string_view line = piece.substr(0, newline);
    if (!buffer_.empty()) {
      buffer_ += line;
      line = buffer_;
    }
    if (Status read = read_line(line); !read) return read;
    buffer_.clear();
    piece.remove_prefix(newline + 1);
  }
  return ok();
}

Status VmExportDecoder::finish() {
  // The last line of a whole body ends like every other.
  if (!buffer_.empty()) return bad_line(buffer_, "the body is cut off");
  return ok();
}

Status VmExportDecoder::read_line(std::string_view line) {
  LineCursor cursor(line);
  if (cursor.at_end()) return ok();
  if (!cursor.accept('{')) return not_json(line, "an export of VictoriaMetrics");
  std::string_view metric;
  values_.clear();
  times_.clear();
  do {
    std::string_view name;
    if (!cursor.text(name) || !cursor.accept(':')) return bad_line(line, "a field is malformed");
    bool read = false;
    if (name == "metric") {
      read = metric.empty() && cursor.flat_object(metric);
    } else if (name == "values") {
      read = values_.empty() && cursor.list([&] { return cursor.value(values_.emplace_back()); });
    } else if (name == "timestamps") {
      read = times_.empty() && cursor.list([&] { return cursor.time(times_.emplace_back()); });
    }
    if (!read) return bad_line(line, fmt::format("`{}` is malformed", excerpt(name, 40)));
  } while (cursor.accept(','));
  if (!cursor.accept('}') || !cursor.at_end()) return bad_line(line, "it is cut off");
  if (metric.empty()) return bad_line(line, "it has no labels");
  if (values_.size() != times_.size()) {
    return bad_line(line,
                    fmt::format("{} values but {} timestamps", values_.size(), times_.size()));
  }
  return append_series(metric);
}

Status VmExportDecoder::append_series(std::string_view metric) {
  samples_.clear();
  std::int64_t newest = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (times_[i] < newest) return bad_line(metric, "timestamps fall");
    // VictoriaMetrics keeps several samples of one instant unless it deduplicates: the last counts.
    if (times_[i] == newest) samples_.pop_back();
    newest = times_[i];
    samples_.push_back({times_[i], values_[i]});
  }
  Status labels_read = ok();
  const auto labels = [&] {
    padded_.assign(metric);
    padded_.append(kJsonPadding, ' ');
    auto parsed = labels_.parse(std::string_view(padded_).substr(0, metric.size()));
    if (parsed) return *std::move(parsed);
    labels_read = std::move(parsed).error();
    return Labels();
  };
  const SeriesId id = sink_.open(metric, labels);
  if (!labels_read) return labels_read;
  const auto inside = span_.clip(samples_);
  ++series_;
  sample_count_ += inside.size();
  if (!inside.empty()) sink_.append(id, inside);
  return ok();
}

}  // namespace outcomed
