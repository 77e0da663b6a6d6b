#include "daemon/http/listener.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

namespace outcomed {
namespace {

Error bad_address(std::string_view text, std::string_view why) {
  return {ErrorKind::invalid,
          fmt::format("\"{}\" is not an address to listen on: {}; write for example 127.0.0.1:9469",
                      text.substr(0, 80), why)};
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

SocketAddress socket_address(const ListenAddress& address) {
  SocketAddress result;
  if (address.is_ipv6) {
    auto* in6 = reinterpret_cast<sockaddr_in6*>(&result.storage);
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(address.port);
    inet_pton(AF_INET6, address.host.c_str(), &in6->sin6_addr);
    result.size = sizeof *in6;
  } else {
    auto* in = reinterpret_cast<sockaddr_in*>(&result.storage);
    in->sin_family = AF_INET;
    in->sin_port = htons(address.port);
    inet_pton(AF_INET, address.host.c_str(), &in->sin_addr);
    result.size = sizeof *in;
  }
  return result;
}

// Containers are often made without.
bool has_ipv6() {
  const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  SocketAddress any = socket_address({"::1", 0, true});
  const bool usable = bind(fd, reinterpret_cast<const sockaddr*>(&any.storage), any.size) == 0;
  ::close(fd);
  return usable;
}

std::string shown_address(const sockaddr_storage& storage) {
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(&storage);
    inet_ntop(AF_INET, &in->sin_addr, text, sizeof text);
  } else if (storage.ss_family == AF_INET6) {
    const auto* in6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof text);
  }
  const std::string_view shown(text);
  constexpr std::string_view kMapped = "::ffff:";
  if (shown.starts_with(kMapped) && shown.find('.') != std::string_view::npos) {
    return std::string(shown.substr(kMapped.size()));
  }
  return std::string(shown);
}

}  // namespace

std::string ListenAddress::to_string() const {
  return is_ipv6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

bool ListenAddress::is_loopback() const { return host == "::1" || host.starts_with("127."); }

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad_address(text, "there is no port");
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return bad_address(text, "the port is not a number from 0 to 65535");
  std::string host(text.substr(0, colon));
  if (host.empty()) return ListenAddress{"::", *port, true};
  if (host == "localhost") host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) {
    in6_addr parsed{};
    host = host.substr(1, host.size() - 2);
    if (inet_pton(AF_INET6, host.c_str(), &parsed) != 1) {
      return bad_address(text, "the brackets don't hold an IPv6 address");
    }
    return ListenAddress{std::move(host), *port, true};
  }
  in_addr parsed{};
  if (inet_pton(AF_INET, host.c_str(), &parsed) != 1) {
    return bad_address(text, host.find(':') != std::string::npos
                                 ? "an IPv6 address stands in brackets"
                                 : "the host is not a numeric address");
  }
  return ListenAddress{std::move(host), *port, false};
}

Result<int> listen_on(const ListenAddress& address) {
  if (address.host == "::" && !has_ipv6()) return listen_on({"0.0.0.0", address.port, false});
  const auto failed = [&](int socket, int cause) {
    if (socket >= 0) ::close(socket);
    const std::string_view remedy =
        cause == EADDRINUSE ? "; end the program that has it or choose another http.listen" : "";
    // A port that is busy may be free in a moment: no fault of the configuration.
    const auto kind = cause == EADDRINUSE ? ErrorKind::unavailable : ErrorKind::invalid;
    return Error{
        kind, fmt::format("listen on {}: {}{}", address.to_string(), std::strerror(cause), remedy)};
  };
  const int family = address.is_ipv6 ? AF_INET6 : AF_INET;
  const int fd = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return failed(fd, errno);
  const int on = 1;
  const int off = 0;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.is_ipv6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  const SocketAddress bound = socket_address(address);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&bound.storage), bound.size) != 0) {
    return failed(fd, errno);
  }
  if (listen(fd, SOMAXCONN) != 0) return failed(fd, errno);
  return fd;
}

std::string near_address(int socket) {
  SocketAddress address{{}, sizeof(sockaddr_storage)};
  getsockname(socket, reinterpret_cast<sockaddr*>(&address.storage), &address.size);
  return shown_address(address.storage);
}

std::string far_address(int socket) {
  SocketAddress address{{}, sizeof(sockaddr_storage)};
  getpeername(socket, reinterpret_cast<sockaddr*>(&address.storage), &address.size);
  return shown_address(address.storage);
}

std::uint16_t near_port(int socket) {
  SocketAddress address{{}, sizeof(sockaddr_storage)};
  getsockname(socket, reinterpret_cast<sockaddr*>(&address.storage), &address.size);
  if (address.storage.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
}

}  // namespace outcomed
