// What sources and receivers ask of HTTP. Implemented once, on libcurl, in daemon/net.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "queries/base/params.h"
#include "queries/base/result.h"
#include "queries/base/secret.h"
#include "queries/base/secret_scrubber.h"
#include "queries/base/time.h"

namespace outcomed {

// How to reach one server: credentials, TLS, proxy. The same settings for sources and receivers.
struct HttpAccess {
  std::string basic_user;
  SecretRef basic_password;
  SecretRef bearer_token;
  std::vector<std::pair<std::string, SecretRef>> headers;
  std::string ca_file;
  std::string cert_file;
  std::string key_file;
  std::string server_name;  // Name in the certificate, where it differs from the URL's host.
  std::string proxy_url;    // Empty: no proxy, whatever the environment says.

  void visit(ParamVisitor& visitor);
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  HttpAccess access;
  // What else must not be shown where the other side repeats it: keys that the caller signed with,
  // parts of the URL. The client knows those of `access`.
  std::vector<Secret> secrets;
  Duration timeout = 10s;                     // Whole request, connection included.
  std::int64_t max_bytes = 64 * 1024 * 1024;  // Of the decoded body, counted as it arrives.
  // Follow up to this many redirects, only to the same scheme, host and port, credentials re-sent.
  int same_host_redirects = 0;
  // Where set, the body of a 2xx answer goes here piece by piece instead of HttpResponse::body;
  // returning an error ends the transfer with that error.
  std::function<Status(std::string_view)> on_body;
};

struct HttpResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // Names in lower case.
  std::string body;  // Of a status that is not 2xx: with "***" for the secrets of the request.
  // For what is said of the headers, of what is decoded from the body, and of the body of a 2xx,
  // which comes as it is: the other side may repeat the secrets of the request.
  SecretScrubber scrubber = {};

  [[nodiscard]] std::string_view header(std::string_view lower_case_name) const {
    for (const auto& [name, value] : headers) {
      if (name == lower_case_name) return value;
    }
    return {};
  }
};

// Thread-safe. Any status is a response; errors are only what kept a whole answer from arriving
// (unavailable, timeout, too_large, corrupt) or a secret that can't be read (invalid: the request
// is never sent without its credentials). Messages hold scheme and host of a URL, never its path,
// query or credentials, even where the other side or `on_body` repeats these.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  virtual Result<HttpResponse> send(const HttpRequest& request) = 0;
};

// Reads a status that is not 2xx as the matching error, with up to 200 printable bytes of the body.
Error error_of_status(const HttpResponse& response);

// "a b&c" -> "a%20b%26c" (RFC 3986 unreserved characters stay).
std::string url_encode(std::string_view text);
// "https://hooks.example.org/…": what may be shown of a URL.
std::string redact_url(std::string_view url);

}  // namespace outcomed
