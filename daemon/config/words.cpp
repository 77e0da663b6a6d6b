#include "daemon/config/words.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "queries/base/ascii.h"

namespace outcomed {
namespace {

constexpr std::size_t kShown = 60;

bool is_word_char(char c) {
  return is_alphanumeric(c) || c == '.' || c == '%' || c == '+' || c == '-' || c == '_';
}

// The bytes of `text` up to `limit` characters, never cutting one.
std::string_view cut(std::string_view text, std::size_t limit) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0U) == 0x80) continue;
    if (characters++ == limit) return text.substr(0, i);
  }
  return text;
}

}  // namespace

std::string shown(std::string_view text) {
  const bool plain =
      !text.empty() && text.size() <= kShown && std::ranges::all_of(text, is_word_char);
  return plain ? std::string(text) : in_quotes(text);
}

std::string in_quotes(std::string_view text) {
  const std::string_view kept = cut(text, kShown);
  std::string out = "\"";
  for (const char c : escape_controls(kept)) {
    if (c == '"') out += '\\';
    out += c;
  }
  return out + (kept.size() < text.size() ? "…\"" : "\"");
}

std::string escape_controls(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string fold_word(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '-' || c == '_' || c == ' ') continue;
    out += to_lower(c);
  }
  return out;
}

}  // namespace outcomed
