#include "daemon/http/message.h"

#include <algorithm>

#include "queries/base/ascii.h"

namespace outcomed {
namespace {

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Error bad_target(std::string_view why) { return {ErrorKind::invalid, std::string(why)}; }

Result<std::string> percent_decode(std::string_view text, bool plus_is_blank) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_blank) {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
      if (high < 0 || low < 0) return bad_target("'%' must be followed by two hexadecimal digits");
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  if (decoded.find('\0') != std::string::npos) return bad_target("NUL is not allowed in a URL");
  return decoded;
}

Status check_path(std::string_view path) {
  if (!path.starts_with('/')) return bad_target("the path must begin with '/'");
  for (const char c : path) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return bad_target("control characters are not allowed in a path");
    }
  }
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view segment = path.substr(0, path.find('/'));
    if (segment == "." || segment == "..") return bad_target("the path must not hold . or ..");
    path.remove_prefix(segment.size());
  }
  return ok();
}

Result<TextPairList> parse_query(std::string_view raw) {
  TextPairList query;
  while (!raw.empty()) {
    const std::string_view item = raw.substr(0, raw.find('&'));
    raw.remove_prefix(std::min(raw.size(), item.size() + 1));
    if (item.empty()) continue;
    const auto equals = item.find('=');
    auto name = percent_decode(item.substr(0, equals), true);
    if (!name) return name.error();
    auto value = percent_decode(
        equals == std::string_view::npos ? std::string_view() : item.substr(equals + 1), true);
    if (!value) return value.error();
    query.emplace_back(*std::move(name), *std::move(value));
  }
  return query;
}

}  // namespace

std::string_view HttpRequestIn::header(std::string_view lower_case_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_case_name) return value;
  }
  return {};
}

std::optional<std::string> HttpRequestIn::parameter(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

HttpReply HttpReply::text(int status, std::string sentence) {
  HttpReply reply;
  reply.status = status;
  reply.body = std::move(sentence) + "\n";
  return reply;
}

HttpReply HttpReply::json(std::string body, int status) {
  HttpReply reply;
  reply.status = status;
  reply.content_type = "application/json";
  reply.body = std::move(body);
  return reply;
}

Result<HttpTarget> parse_target(std::string_view raw) {
  const auto question = raw.find('?');
  auto path = percent_decode(raw.substr(0, question), false);
  if (!path) return path.error();
  if (Status fit = check_path(*path); !fit) return fit.error();
  auto query = parse_query(question == std::string_view::npos ? std::string_view()
                                                              : raw.substr(question + 1));
  if (!query) return query.error();
  return HttpTarget{*std::move(path), *std::move(query)};
}

}  // namespace outcomed
