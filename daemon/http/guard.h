// What is refused before any handler sees a request.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/message.h"

namespace outcomed {

// Browsers can be made to send requests here by any page whose host name points to us (DNS
// rebinding); the Host header then holds that page's name.
class HostList {
 public:
  // `names`: those under which proxies and people reach us, beside localhost and addresses.
  explicit HostList(const std::vector<std::string>& names);

  // Allows localhost, the address that the connection came in on, and the names; the port doesn't
  // matter.
  [[nodiscard]] bool allows(std::string_view host_header, std::string_view near_address) const;

 private:
  std::vector<std::string> names_;
};

// 400 for two ways to tell the length of the body, which proxies and we might read differently.
std::optional<HttpReply> refuse_framing(const HttpRequestIn& request);

// For requests that change something. 403 when a browser says that another site's page sent it; 415
// for a body that is not JSON, since forms can be sent across sites without asking.
std::optional<HttpReply> refuse_cross_site(const HttpRequestIn& request);

// Host part of "name:port" and "[::1]:port", in lower case, without a trailing dot.
std::string host_of(std::string_view authority);

}  // namespace outcomed
