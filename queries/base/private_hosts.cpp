#include "queries/base/private_hosts.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "queries/base/ascii.h"

namespace outcomed {
namespace {

std::optional<std::uint32_t> ipv4(std::string_view host) {
  in_addr address{};
  // inet_pton takes four decimal parts without leading zeros only.
  if (inet_pton(AF_INET, std::string(host).c_str(), &address) != 1) return std::nullopt;
  return ntohl(address.s_addr);
}

std::optional<std::array<std::uint8_t, 16>> ipv6(std::string_view host) {
  in6_addr address{};
  const std::string text(host.substr(0, host.find('%')));  // fe80::1%eth0
  if (inet_pton(AF_INET6, text.c_str(), &address) != 1) return std::nullopt;
  std::array<std::uint8_t, 16> bytes{};
  std::memcpy(bytes.data(), &address, bytes.size());
  return bytes;
}

bool in_net(std::uint32_t address, std::uint32_t net, int bits) {
  return address >> (32 - bits) == net >> (32 - bits);
}

bool is_private_ipv4(std::uint32_t address, const PrivateHosts& rules) {
  return in_net(address, 0x0a000000, 8) || in_net(address, 0xac100000, 12) ||
         in_net(address, 0xc0a80000, 16) || in_net(address, 0x7f000000, 8) ||
         in_net(address, 0xa9fe0000, 16) ||
         (rules.carrier_grade_nat && in_net(address, 0x64400000, 10));
}

bool is_private_ipv6(const std::array<std::uint8_t, 16>& bytes, const PrivateHosts& rules) {
  const bool starts_empty =
      std::all_of(bytes.begin(), bytes.begin() + 10, [](std::uint8_t byte) { return byte == 0; });
  if (starts_empty && bytes[10] == 0xff && bytes[11] == 0xff) {
    std::uint32_t mapped = 0;
    for (std::size_t i = 12; i < 16; ++i) mapped = mapped << 8 | bytes[i];
    return is_private_ipv4(mapped, rules);
  }
  const bool loopback = starts_empty && bytes[15] == 1 &&
                        std::all_of(bytes.begin() + 10, bytes.begin() + 15,
                                    [](std::uint8_t byte) { return byte == 0; });
  const bool unique_local = (bytes[0] & 0xfe) == 0xfc;
  const bool link_local = bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
  return loopback || unique_local || link_local;
}

bool is_in_domain(std::string_view host, std::string_view domain) {
  if (domain.starts_with('.')) domain.remove_prefix(1);
  if (domain.empty() || !host.ends_with(domain)) return false;
  return host.size() == domain.size() || host[host.size() - domain.size() - 1] == '.';
}

}  // namespace

std::optional<std::string> url_host(std::string_view url) {
  const std::size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return std::nullopt;
  const std::string scheme = lower_case(url.substr(0, scheme_end));
  if (scheme != "http" && scheme != "https") return std::nullopt;
  std::string_view rest = url.substr(scheme_end + 3);
  // A backslash ends the authority for browsers' parsers and not for others: no URL of good will.
  if (rest.find('\\') != std::string_view::npos) return std::nullopt;
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    rest.remove_prefix(at + 1);
  }
  if (rest.starts_with('[')) {
    const std::size_t close = rest.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    return lower_case(rest.substr(1, close - 1));
  }
  std::string host = lower_case(rest.substr(0, rest.find(':')));
  if (host.ends_with('.')) host.pop_back();
  if (host.empty()) return std::nullopt;
  return host;
}

bool is_host_name(std::string_view host) { return !ipv4(host) && !ipv6(host); }

bool is_private_host(std::string_view text, const PrivateHosts& rules) {
  const std::string host = lower_case(text);
  if (const auto address = ipv4(host)) return is_private_ipv4(*address, rules);
  if (const auto address = ipv6(host)) return is_private_ipv6(*address, rules);
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  return std::ranges::any_of(rules.domains, [&](const std::string& domain) {
    return is_in_domain(host, lower_case(domain));
  });
}

}  // namespace outcomed
