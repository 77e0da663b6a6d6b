#include "daemon/config/addresses.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "daemon/config/words.h"
#include "queries/base/ascii.h"

namespace outcomed {
namespace {

Error bad_address(std::string message) { return {ErrorKind::invalid, std::move(message)}; }

// "host", "host:80", "[::1]:80" -> host and the text after ':'. Nothing where brackets don't close.
struct HostPort {
  std::string_view host;
  std::optional<std::string_view> port;
};
std::optional<HostPort> split_host(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') return std::nullopt;
    return HostPort{text.substr(1, close - 1),
                    rest.empty() ? std::nullopt : std::optional(rest.substr(1))};
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return HostPort{text, std::nullopt};
  return HostPort{text.substr(0, colon), text.substr(colon + 1)};
}

bool is_host(std::string_view host, bool bracketed) {
  return !host.empty() && std::ranges::all_of(host, [&](char c) {
    return is_alphanumeric(c) || c == '.' || (bracketed && (c == ':' || c == '%')) ||
           (!bracketed && (c == '-' || c == '_'));
  });
}

std::optional<std::uint16_t> port_number(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return port;
}

}  // namespace

Status check_url(std::string_view text) {
  if (!text.starts_with("http://") && !text.starts_with("https://")) {
    return bad_address("not a URL; it must start with http:// or https://");
  }
  std::string_view rest = text.substr(text.find("//") + 2);
  if (std::ranges::any_of(rest, [](char c) { return c <= ' ' || c > '~'; })) {
    return bad_address(
        "the URL holds a blank or a character outside ASCII; encode it, such as %20");
  }
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  if (authority.find('@') != std::string_view::npos) {
    return bad_address("the URL holds credentials; take them out and refer to them beside the URL");
  }
  if (rest.find('#') != std::string_view::npos) {
    return bad_address("the URL has a fragment (#); remove it");
  }
  const std::optional<HostPort> host = split_host(authority);
  if (!host || !is_host(host->host, authority.starts_with('['))) {
    return bad_address("the URL has no valid host; write http://host:port/path");
  }
  if (host->port && port_number(*host->port).value_or(0) == 0) {
    return bad_address("the URL has no valid port; ports lie between 1 and 65535");
  }
  return ok();
}

Result<HostAndPort> parse_listen(std::string_view text) {
  const std::optional<HostPort> parts = split_host(text);
  const bool bracketed = text.starts_with('[');
  const std::optional<std::uint16_t> port =
      parts && parts->port ? port_number(*parts->port) : std::nullopt;
  const bool host_ok =
      parts && ((parts->host.empty() && !bracketed) || is_host(parts->host, bracketed));
  if (!port || !host_ok) {
    return bad_address(shown(text) +
                       " is not an address to listen on; write host:port, such as 127.0.0.1:9469");
  }
  return HostAndPort{std::string(parts->host), *port};
}

}  // namespace outcomed
