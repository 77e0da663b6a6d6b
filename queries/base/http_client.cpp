#include "queries/base/http_client.h"

#include <fmt/core.h>

#include "queries/base/ascii.h"

namespace outcomed {

void HttpAccess::visit(ParamVisitor& visitor) {
  if (visitor.begin("basic_auth", "HTTP basic authentication.")) {
    visitor.text("username", basic_user, "User name.");
    visitor.secret("password", basic_password, "Password, by reference.");
    visitor.end();
  }
  visitor.secret("bearer_token", bearer_token, "Token sent as `Authorization: Bearer …`.");
  visitor.headers("headers", headers, "Further request headers; values may be secret references.");
  if (visitor.begin("tls", "TLS settings; certificates are always verified.")) {
    visitor.path("ca_file", ca_file, "Certificate authorities (PEM) instead of the system's.");
    visitor.path("cert_file", cert_file, "Client certificate (PEM).");
    visitor.path("key_file", key_file, "Key of the client certificate (PEM).");
    visitor.text("server_name", server_name, "Name expected in the server's certificate.");
    visitor.end();
  }
  visitor.url("proxy_url", proxy_url, "HTTP proxy; the environment's proxies are not used.");
  if (bearer_token.is_set() && !basic_user.empty()) {
    visitor.problem("bearer_token", "basic_auth and bearer_token exclude each other",
                    "keep one of them");
  }
  if (cert_file.empty() != key_file.empty()) {
    visitor.problem("tls", "cert_file and key_file belong together", "set both or neither");
  }
}

Error error_of_status(const HttpResponse& response) {
  ErrorKind kind = ErrorKind::rejected;
  if (response.status >= 500) kind = ErrorKind::unavailable;
  if (response.status == 401 || response.status == 403) kind = ErrorKind::unauthorized;
  if (response.status == 429) kind = ErrorKind::throttled;
  if (response.status == 408) kind = ErrorKind::timeout;
  std::string sample;
  for (const char c : response.body.substr(0, 200)) {
    sample += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return {kind, sample.empty() ? fmt::format("HTTP {}", response.status)
                               : fmt::format("HTTP {}: {}", response.status, sample)};
}

std::string url_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string redact_url(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return "(no URL)";
  std::string_view rest = url.substr(scheme + 3);
  // A password may hold a slash: whatever stands before the last @ is not shown.
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) rest.remove_prefix(at + 1);
  const auto end = rest.find_first_of("/?#");
  const bool more = end != std::string_view::npos && end + 1 < rest.size();
  rest = rest.substr(0, end);
  return std::string(url.substr(0, scheme + 3)) + std::string(rest) + (more ? "/…" : "");
}

}  // namespace outcomed
