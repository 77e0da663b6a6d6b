#include "queries/base/matcher.h"

#include <fmt/core.h>
#include <re2/re2.h>

#include <algorithm>

#include "queries/base/ascii.h"

namespace outcomed {
namespace {

constexpr std::size_t kMaxPattern = 1024;
constexpr std::int64_t kRegexMemory = 1 << 20;

// A cursor over selector text; every read skips blanks first.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  void skip_blanks() {
    while (pos_ < text_.size() &&
           (text_[pos_] == ' ' || text_[pos_] == '\t' || text_[pos_] == '\n')) {
      ++pos_;
    }
  }
  bool accept(std::string_view token) {
    skip_blanks();
    if (text_.substr(pos_, token.size()) != token) return false;
    pos_ += token.size();
    return true;
  }
  [[nodiscard]] bool at_end() {
    skip_blanks();
    return pos_ == text_.size();
  }
  [[nodiscard]] bool at_quote() {
    skip_blanks();
    return pos_ < text_.size() && (text_[pos_] == '"' || text_[pos_] == '\'' || text_[pos_] == '`');
  }
  std::string name(bool colons) {
    skip_blanks();
    const std::size_t begin = pos_;
    while (pos_ < text_.size() &&
           (pos_ == begin ? is_name_start(text_[pos_]) || (colons && text_[pos_] == ':')
                          : is_name_char(text_[pos_]) || (colons && text_[pos_] == ':'))) {
      ++pos_;
    }
    return std::string(text_.substr(begin, pos_ - begin));
  }
  // A quoted string with Go's common escapes; false when it is not closed.
  bool quoted(std::string& out) {
    skip_blanks();
    if (pos_ >= text_.size()) return false;
    const char quote = text_[pos_];
    if (quote != '"' && quote != '\'' && quote != '`') return false;
    for (++pos_; pos_ < text_.size(); ++pos_) {
      char c = text_[pos_];
      if (c == quote) {
        ++pos_;
        return true;
      }
      if (c == '\\' && quote != '`') {
        if (++pos_ >= text_.size()) return false;
        c = text_[pos_];
        if (c == 'n') c = '\n';
        if (c == 't') c = '\t';
      }
      out += c;
    }
    return false;
  }
  std::string rest() {
    skip_blanks();
    std::string_view rest = text_.substr(pos_);
    pos_ = text_.size();
    while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\t')) rest.remove_suffix(1);
    return std::string(rest);
  }
  [[nodiscard]] std::size_t column() const { return pos_ + 1; }

 private:
  std::string_view text_;
  std::size_t pos_ = 0;
};

bool read_op(Cursor& cursor, Matcher::Op& op) {
  if (cursor.accept("=~"))
    op = Matcher::Op::match;
  else if (cursor.accept("!~"))
    op = Matcher::Op::not_match;
  else if (cursor.accept("!="))
    op = Matcher::Op::not_equal;
  else if (cursor.accept("="))
    op = Matcher::Op::equal;
  else
    return false;
  return true;
}

std::string_view op_text(Matcher::Op op) {
  switch (op) {
    case Matcher::Op::equal:
      return "=";
    case Matcher::Op::not_equal:
      return "!=";
    case Matcher::Op::match:
      return "=~";
    case Matcher::Op::not_match:
      return "!~";
  }
  return "=";
}

Error bad(std::string_view text, std::string_view why) {
  return {ErrorKind::invalid, fmt::format("\"{}\": {}", text.substr(0, 120), why)};
}

}  // namespace

Matcher::Matcher(std::string name, Op op, std::string value, std::shared_ptr<const re2::RE2> regex)
    : name_(std::move(name)), op_(op), value_(std::move(value)), regex_(std::move(regex)) {}

Result<Matcher> Matcher::make(std::string name, Op op, std::string value) {
  std::shared_ptr<const re2::RE2> regex;
  if (op == Op::match || op == Op::not_match) {
    if (value.size() > kMaxPattern) return bad(value, "the pattern is longer than 1024 characters");
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kRegexMemory);
    options.set_dot_nl(true);
    regex = std::make_shared<const re2::RE2>(value, options);
    if (!regex->ok()) return bad(value, "not a regular expression (RE2): " + regex->error());
  }
  return Matcher(std::move(name), op, std::move(value), std::move(regex));
}

Result<Matcher> Matcher::parse(std::string_view text) {
  Cursor cursor(text);
  std::string name = cursor.name(false);
  if (name.empty()) return bad(text, "a matcher starts with a label name: model=\"judge\"");
  Op op{};
  if (!read_op(cursor, op)) return bad(text, "after the label name comes =, !=, =~ or !~");
  std::string value;
  if (cursor.at_quote()) {
    if (!cursor.quoted(value)) return bad(text, "the quote isn't closed");
  } else {
    value = cursor.rest();
    if (value.find('"') != std::string::npos) return bad(text, "quote the whole value");
  }
  if (!cursor.at_end()) return bad(text, "something follows the matcher; write one a list item");
  return make(std::move(name), op, std::move(value));
}

bool Matcher::matches(std::string_view value) const {
  switch (op_) {
    case Op::equal:
      return value == value_;
    case Op::not_equal:
      return value != value_;
    case Op::match:
      return re2::RE2::FullMatch({value.data(), value.size()}, *regex_);
    case Op::not_match:
      return !re2::RE2::FullMatch({value.data(), value.size()}, *regex_);
  }
  return false;
}

std::string Matcher::to_string() const {
  std::string text = name_ + std::string(op_text(op_)) + '"';
  for (const char c : value_) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

bool all_match(const Matchers& matchers, const Labels& labels) {
  return std::ranges::all_of(matchers, [&](const Matcher& m) { return m.matches(labels); });
}

Result<Selector> Selector::parse(std::string_view text) {
  Cursor cursor(text);
  Selector selector;
  selector.metric = cursor.name(true);
  if (selector.metric.empty()) {
    return bad(text, "a selector starts with a metric name: http_requests_total{code=\"500\"}");
  }
  if (cursor.accept("{")) {
    bool closed = cursor.accept("}");
    while (!closed) {
      std::string name = cursor.name(false);
      Matcher::Op op{};
      std::string value;
      if (name.empty() || !read_op(cursor, op) || !cursor.quoted(value)) {
        return bad(text, fmt::format("column {}: expected name=\"value\" or }}", cursor.column()));
      }
      auto matcher = Matcher::make(std::move(name), op, std::move(value));
      if (!matcher) return std::move(matcher).error();
      selector.matchers.push_back(*std::move(matcher));
      const bool comma = cursor.accept(",");
      closed = cursor.accept("}");
      if (!comma && !closed) {
        return bad(text, fmt::format("column {}: expected , or }}", cursor.column()));
      }
    }
  }
  if (!cursor.at_end()) {
    return bad(text,
               "only a plain selector is allowed here (no functions, ranges or offsets): "
               "counters are read raw and the arithmetic is done here");
  }
  return selector;
}

std::string Selector::to_string() const {
  if (matchers.empty()) return metric;
  std::string text = metric + "{";
  for (const Matcher& matcher : matchers) {
    if (text.back() != '{') text += ',';
    text += matcher.to_string();
  }
  return text + "}";
}

}  // namespace outcomed
