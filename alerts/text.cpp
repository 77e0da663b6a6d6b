#include "alerts/text.h"

#include <algorithm>
#include <cstddef>

#include "queries/base/ascii.h"

namespace outcomed {
namespace {

constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

// The second byte of U+0080 to U+009F behind 0xC2.
bool is_c1(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 && byte <= 0x9F;
}

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// "host", "host:9469", "[::1]:9469"; user names are left out of links.
bool is_authority(std::string_view text) {
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos || end == 1) return false;
    const auto address = text.substr(1, end - 1);
    if (!std::ranges::all_of(address, [](char c) { return is_hex(c) || c == ':' || c == '.'; })) {
      return false;
    }
    port = text.substr(end + 1);
  } else {
    const auto colon = text.find(':');
    const auto host = text.substr(0, colon);
    if (colon != std::string_view::npos) port = text.substr(colon);
    if (host.empty() || !std::ranges::all_of(
                            host, [](char c) { return is_name_char(c) || c == '-' || c == '.'; })) {
      return false;
    }
  }
  return port.empty() || (port.front() == ':' && std::ranges::all_of(port.substr(1), is_digit));
}

bool has_only_url_text(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte <= 0x20 || byte >= 0x7F) return false;
    if (std::string_view("\"<>`\\^{|}").find(text[i]) != std::string_view::npos) return false;
    if (text[i] != '%') continue;
    if (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) return false;
  }
  return true;
}

}  // namespace

std::string cut_text(std::string text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
  return text.append(kEllipsis);
}

std::string one_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const bool separator =
        text.starts_with("\xE2\x80\xA8") || text.starts_with("\xE2\x80\xA9");  // U+2028, U+2029
    const bool c1 = text.size() > 1 && text[0] == '\xC2' && is_c1(text[1]);
    const auto byte = static_cast<unsigned char>(text.front());
    const std::size_t bytes = separator ? 3 : c1 ? 2 : 1;
    if (separator || c1 || byte < 0x20 || byte == 0x7F) {
      out += ' ';
    } else {
      out += text.front();
    }
    text.remove_prefix(bytes);
  }
  return out;
}

std::string label_name(std::string_view text) {
  if (text.empty()) return "_";
  std::string out;
  if (is_digit(text.front())) out += '_';
  for (const char c : text) out += is_name_char(c) ? c : '_';
  return out;
}

bool is_label_name(std::string_view text) {
  return !text.empty() && !is_digit(text.front()) && std::ranges::all_of(text, is_name_char);
}

bool is_web_url(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return false;
  }
  return is_authority(rest.substr(0, rest.find_first_of("/?#"))) && has_only_url_text(rest);
}

}  // namespace outcomed
