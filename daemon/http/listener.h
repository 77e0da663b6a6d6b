// Where to listen: "127.0.0.1:9469", "[::1]:9469", "localhost:9469", or ":9469" for every address.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "queries/base/result.h"

namespace outcomed {

struct ListenAddress {
  std::string host;  // A numeric address, without brackets.
  std::uint16_t port = 0;
  bool is_ipv6 = false;

  [[nodiscard]] std::string to_string() const;
  [[nodiscard]] bool is_loopback() const;
};

// Names other than localhost are refused: what they resolve to is not for us to guess.
Result<ListenAddress> parse_listen_address(std::string_view text);

// A listening socket, owned by the caller. Port 0 takes a free one.
Result<int> listen_on(const ListenAddress& address);

// "10.0.0.5" or "::1" for the near (getsockname) end of a connection; IPv4 in IPv6 is shown as
// IPv4.
std::string near_address(int socket);
std::string far_address(int socket);
std::uint16_t near_port(int socket);

}  // namespace outcomed
