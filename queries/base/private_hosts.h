// Which addresses stay in the house. Nothing is looked up: a name is private only if the policy
// says so.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace outcomed {

// The host of a URL, in lower case, without user, port, brackets and trailing dot. Nothing where
// the text is no http(s) URL. Reads "http://10.0.0.1@example.com/" as a client does: example.com.
std::optional<std::string> url_host(std::string_view url);

struct PrivateHosts {
  std::vector<std::string> domains;  // corp.example: the name itself and all names below it.
  bool carrier_grade_nat = false;    // Whether 100.64.0.0/10 (RFC 6598) counts.
};

// RFC 1918, loopback, link-local, unique local IPv6 (RFC 4193), the same mapped into IPv6,
// `localhost` and names below it, and what `rules` adds. Numbers in other spellings than four
// decimal parts (0x7f000001, 10.1, 010.0.0.1) are read differently by different programs and are
// not private.
bool is_private_host(std::string_view host, const PrivateHosts& rules);

// Whether the host is a name, as opposed to an address of either family.
bool is_host_name(std::string_view host);

}  // namespace outcomed
