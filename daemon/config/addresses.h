// Where to reach somebody, or where to listen. Errors read "what is wrong; what to do".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "queries/base/result.h"

namespace outcomed {

// http:// or https://, a host, nothing secret inside. Messages never repeat the text.
Status check_url(std::string_view text);

// "127.0.0.1:9469", "[::1]:9469", "localhost:9469", ":9469" (every address).
struct HostAndPort {
  std::string host;  // Without brackets; empty: every address.
  std::uint16_t port = 0;
  friend bool operator==(const HostAndPort&, const HostAndPort&) = default;
};
Result<HostAndPort> parse_listen(std::string_view text);

}  // namespace outcomed
