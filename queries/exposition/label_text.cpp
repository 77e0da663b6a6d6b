#include "queries/exposition/label_text.h"

#include <cstring>

namespace outcomed {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_label_char(char c, bool first) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (!first && c >= '0' && c <= '9');
}

// Length of the valid UTF-8 sequence at `pos`; 0 where there is none.
std::size_t utf8_length(std::string_view text, std::size_t pos) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(pos);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (pos + length > text.size()) return 0;
  // The second byte rules out overlong forms, surrogates and code points above U+10FFFF.
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  if (byte(pos + 1) < low || byte(pos + 1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(pos + i) < 0x80 || byte(pos + i) > 0xBF) return 0;
  }
  return length;
}

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
  const std::size_t length = utf8_length(text, i);
  if (length == 0) {
    out += kReplacement;
    ++i;
  } else {
    out.append(text, i, length);
    i += length;
  }
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

std::string repair_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) take_character(text, i, out);
  return out;
}

}  // namespace outcomed
