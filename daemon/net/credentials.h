// The secret part of a request, read at the moment of sending.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "queries/base/http_client.h"

namespace outcomed {

struct Credentials {
  bool basic = false;
  std::string user;
  Secret password;
  std::vector<Secret> lines;        // Whole header lines for the server.
  std::vector<Secret> proxy_lines;  // The same for the proxy: Proxy-Authorization.
  std::vector<Secret> secrets;      // Whatever of all this must not be shown.
  bool rotatable = false;           // Some came from files, which may change while we are running.

  [[nodiscard]] bool equals(const Credentials& other) const;
};

// Errors are ErrorKind::invalid and name the setting or the reference, never the content.
Result<Credentials> read_credentials(const HttpAccess& access, SecretReader& secrets);

// "Name: value" as libcurl takes it. Refuses a name that is no token, a value with a line break or
// NUL (it would start a header of its own), and names that would change how the body is framed.
Result<std::string> header_line(std::string_view name, std::string_view value);
bool is_http_token(std::string_view text);
bool same_header_name(std::string_view a, std::string_view b);

}  // namespace outcomed
