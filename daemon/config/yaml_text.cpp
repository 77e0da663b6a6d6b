#include "daemon/config/yaml_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "daemon/config/yaml_tree.h"
#include "queries/base/utf8.h"

namespace outcomed {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; }

struct Decoded {
  unsigned character = 0;  // Up to U+00BF exact; above it, only not a control.
  std::size_t length = 0;  // 0: not UTF-8.
};

Decoded decode_utf8(std::string_view text, std::size_t at) {
  const Utf8Sequence next = utf8_sequence(text.substr(at));
  if (!next.valid) return {};
  const auto first = static_cast<unsigned char>(text[at]);
  if (next.bytes == 1) return {first, 1};
  if (first == 0xc2) return {static_cast<unsigned char>(text[at + 1]), 2};
  return {0xfffd, next.bytes};
}

bool is_control(unsigned c) {
  return (c < 0x20 && c != '\n' && c != '\t' && c != '\r') || (c >= 0x7f && c <= 0x9f && c != 0x85);
}

std::string_view indentation(std::string_view line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

}  // namespace

bool has_control_character(std::string_view utf8) {
  for (std::size_t at = 0; at < utf8.size();) {
    const Decoded next = decode_utf8(utf8, at);
    if (next.length == 0 || is_control(next.character)) return true;
    at += next.length;
  }
  return false;
}

YamlText::YamlText(std::string_view raw) {
  if (raw.starts_with(kByteOrderMark)) raw.remove_prefix(kByteOrderMark.size());
  if (raw.size() > kMaxConfigBytes) raw = raw.substr(0, kMaxConfigBytes + 1);
  text_.reserve(raw.size());
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    char c = raw[i];
    if (c == '\r') {
      if (i + 1 < raw.size() && raw[i + 1] == '\n') continue;
      c = '\n';
    }
    text_ += c;
    if (c == '\n') line_starts_.push_back(text_.size());
  }
}

std::size_t YamlText::line_index(std::size_t offset) const {
  const auto next = std::ranges::upper_bound(line_starts_, std::min(offset, text_.size()));
  return static_cast<std::size_t>(next - line_starts_.begin()) - 1;
}

std::string_view YamlText::line_at(std::size_t index) const {
  if (index >= line_starts_.size()) return {};
  const std::string_view rest = std::string_view(text_).substr(line_starts_[index]);
  return rest.substr(0, rest.find('\n'));
}

Place YamlText::place(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const std::size_t line = line_index(offset);
  if (last_offset_ < line_starts_[line] || last_offset_ > offset) {
    last_offset_ = line_starts_[line];
    last_column_ = 0;
  }
  for (; last_offset_ < offset; ++last_offset_) {
    if (!is_continuation(text_[last_offset_])) ++last_column_;
  }
  return {static_cast<int>(line) + 1, static_cast<int>(last_column_) + 1};
}

std::optional<TextFault> YamlText::find_fault() const {
  if (text_.size() > kMaxConfigBytes) {
    return TextFault{{}, "the file is larger than 1MiB", "split it (rules.d/) or shorten it"};
  }
  for (std::size_t at = 0; at < text_.size();) {
    const Decoded next = decode_utf8(text_, at);
    if (next.length == 0) {
      return TextFault{place(at), "the file is not UTF-8 text", "save it as UTF-8"};
    }
    if (next.character == 0) {
      return TextFault{place(at), "the file holds a NUL character", "save it as UTF-8 text"};
    }
    if (is_control(next.character)) {
      return TextFault{place(at), fmt::format("control character U+{:04X}", next.character),
                       "remove it"};
    }
    at += next.length;
  }
  // yaml-cpp reads a bracketed text to its end before it tells of its start, at 240 bytes a token,
  // so the limit of values must be known to hold beforehand. Each value has one of these before it.
  const auto tokens =
      std::ranges::count_if(text_, [](char c) { return c == '[' || c == '{' || c == ','; });
  if (static_cast<std::size_t>(tokens) > kMaxConfigNodes) {
    return TextFault{
        {}, fmt::format("the file has more than {} values", kMaxConfigNodes), "split it"};
  }
  for (std::size_t line = 0; line < line_starts_.size(); ++line) {
    const std::string_view text = line_at(line);
    // yaml-cpp would drop the line, or end the document at it, without a word.
    if (text.starts_with('%') && !(line == 0 && text.starts_with("%YAML 1."))) {
      return TextFault{place(line_starts_[line]), "a line can't begin with %",
                       "quote the text, or remove the directive"};
    }
  }
  return std::nullopt;
}

bool YamlText::quote_closes(std::size_t offset) const {
  if (offset >= text_.size()) return true;
  const char quote = text_[offset];
  if (quote != '"' && quote != '\'') return true;
  for (std::size_t i = offset + 1; i < text_.size(); ++i) {
    if (quote == '"' && text_[i] == '\\') {
      ++i;
    } else if (text_[i] == quote) {
      if (quote == '"' || i + 1 >= text_.size() || text_[i + 1] != '\'') return true;
      ++i;
    }
  }
  return false;
}

TextFault YamlText::explain_syntax_error(std::size_t offset, std::string_view complaint,
                                         std::optional<Place> open_since) const {
  const std::size_t line = line_index(offset);
  for (std::size_t i = line < 1 ? 0 : line - 1; i <= line; ++i) {
    const std::size_t tab = indentation(line_at(i)).find('\t');
    if (tab == std::string_view::npos) continue;
    return {place(line_starts_[i] + tab), "a tab can't indent", "indent with spaces"};
  }
  const auto says = [&](std::string_view text) { return complaint.find(text) != complaint.npos; };
  // The complaint about an escape comes after the backslash and its letter were read.
  const Place at = place(says("escape") && offset >= 2 ? offset - 2 : offset);
  std::string hint;
  if (says("illegal map value")) {
    hint = "check the indentation, and quote texts that hold \": \"";
  } else if (says("end of map not found") || says("end of sequence not found") ||
             says("illegal block entry") || says("illegal map key")) {
    hint = "check the indentation here and in the lines above";
  } else if (says("flow") && open_since) {
    hint = fmt::format("a [ or {{ is open since {}:{}", open_since->line, open_since->column);
  } else if (says("unknown token")) {
    hint = "quote texts that start with @, ` or %";
  } else if (says("escape")) {
    hint = "in double quotes write \\\\ for a backslash, or use single quotes";
  } else if (says("anchor")) {
    return {at, "aliases (*name) are not supported", "write the value out, or quote the text"};
  }
  return {at, "not valid YAML: " + std::string(complaint), hint};
}

}  // namespace outcomed
