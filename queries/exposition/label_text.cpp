#include "queries/exposition/label_text.h"

#include <cstring>

#include "queries/base/ascii.h"
#include "queries/base/utf8.h"

namespace outcomed {
namespace {

bool is_label_char(char c, bool first) { return is_name_start(c) || (!first && is_digit(c)); }

}  // namespace

bool LabelWalk::fail(const char* what) {
  fault_ = what;
  return false;
}

void LabelWalk::skip_blanks() {
  while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\t')) ++pos_;
}

bool LabelWalk::quoted(std::string_view& out) {
  const std::size_t begin = ++pos_;
  while (pos_ < text_.size()) {
    const void* hit = std::memchr(text_.data() + pos_, '"', text_.size() - pos_);
    if (hit == nullptr) break;
    const auto quote = static_cast<std::size_t>(static_cast<const char*>(hit) - text_.data());
    std::size_t slashes = 0;
    while (quote - slashes > begin && text_[quote - slashes - 1] == '\\') ++slashes;
    pos_ = quote + 1;
    if (slashes % 2 == 0) {
      out = text_.substr(begin, quote - begin);
      return true;
    }
  }
  pos_ = text_.size();
  return fail("the quote of a label value isn't closed");
}

bool LabelWalk::next() {
  if (fault_ != nullptr) return false;
  skip_blanks();
  if (!first_ && pos_ < text_.size() && text_[pos_] == ',') {
    ++pos_;
    skip_blanks();
  } else if (!first_ && pos_ < text_.size() && text_[pos_] != '}') {
    return fail("expected , or } after a label");
  }
  first_ = false;
  if (pos_ >= text_.size() || text_[pos_] == '}') return false;
  metric_name_ = false;
  const bool quoted_name = text_[pos_] == '"';
  if (quoted_name) {
    if (!quoted(name_)) return false;
  } else {
    const std::size_t begin = pos_;
    while (pos_ < text_.size() && is_label_char(text_[pos_], pos_ == begin)) ++pos_;
    if (pos_ == begin) return fail("expected a label name");
    name_ = text_.substr(begin, pos_ - begin);
  }
  skip_blanks();
  if (pos_ >= text_.size() || text_[pos_] != '=') {
    if (!quoted_name) return fail("expected = after a label name");
    metric_name_ = true;
    value_ = name_;
    return true;
  }
  ++pos_;
  skip_blanks();
  if (pos_ >= text_.size() || text_[pos_] != '"') return fail("a label value must stand in quotes");
  return quoted(value_);
}

namespace {

// Appends the character at `i`, or U+FFFD where it is no valid UTF-8, and moves behind it.
void take_character(std::string_view text, std::size_t& i, std::string& out) {
  const Utf8Sequence sequence = utf8_sequence(text.substr(i));
  out += sequence.valid ? text.substr(i, sequence.bytes) : kUtf8Replacement;
  i += sequence.bytes;
}

}  // namespace

std::string unescape_label(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size();) {
    const char next = raw[i] == '\\' && i + 1 < raw.size() ? raw[i + 1] : '\0';
    if (next == '\\' || next == '"' || next == 'n') {
      out += next == 'n' ? '\n' : next;
      i += 2;
    } else {
      take_character(raw, i, out);
    }
  }
  return out;
}

}  // namespace outcomed
