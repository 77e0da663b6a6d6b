#include "alerts/rule_export/yaml_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "alerts/text.h"

namespace outcomed {
namespace {

// The code points YAML calls not printable, and those that it or an editor takes for line breaks,
// as UTF-8; ASCII controls are handled apart.
std::string_view escape_of(std::string_view rest, std::size_t& bytes) {
  struct Entry {
    std::string_view utf8, escape;
  };
  static constexpr Entry kEntries[] = {{"\xE2\x80\xA8", "\\u2028"},
                                       {"\xE2\x80\xA9", "\\u2029"},
                                       {"\xEF\xBB\xBF", "\\uFEFF"},
                                       {"\xEF\xBF\xBE", "\\uFFFE"},
                                       {"\xEF\xBF\xBF", "\\uFFFF"}};
  for (const Entry& entry : kEntries) {
    if (rest.starts_with(entry.utf8)) {
      bytes = entry.utf8.size();
      return entry.escape;
    }
  }
  return {};
}

bool is_plain_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= 0x20 && c < 0x7F) || c == '\n'; });
}

}  // namespace

std::string yaml_string(std::string_view raw) {
  const std::string text = repair_utf8(raw);
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = std::string_view(text).substr(i);
    const auto byte = static_cast<unsigned char>(rest[0]);
    std::size_t bytes = 1;
    if (rest[0] == '"' || rest[0] == '\\') {
      out += {'\\', rest[0]};
    } else if (rest[0] == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02X}", byte);
    } else if (byte == 0xC2 && static_cast<unsigned char>(rest[1]) < 0xA0) {  // C1 controls
      out += fmt::format("\\x{:02X}", static_cast<unsigned char>(rest[1]));
      bytes = 2;
    } else if (const std::string_view escape = escape_of(rest, bytes); !escape.empty()) {
      out += escape;
    } else {
      out += rest[0];
    }
    i += bytes;
  }
  return out + '"';
}

std::string yaml_block(std::string_view indent, std::string_view key, std::string_view text) {
  const bool fits = !text.empty() && is_plain_ascii(text) && text.front() != ' ' &&
                    text.front() != '\n' && text.back() != '\n';
  if (!fits) return fmt::format("{}{}: {}\n", indent, key, yaml_string(text));
  std::string out = fmt::format("{}{}: |-\n{}  ", indent, key, indent);
  for (const char c : text) {
    out += c;
    if (c == '\n') out += fmt::format("{}  ", indent);
  }
  return out + '\n';
}

std::string template_literal(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (text.starts_with("{{")) {
      out += "{{\"{{\"}}";
      text.remove_prefix(2);
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace outcomed
