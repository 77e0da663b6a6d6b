// The HTTP client of the daemon, on libcurl.
//
// Connections: HTTP/1.1, kept alive and reused (up to 5 minutes, so that a moved name is noticed).
// A kept connection that turns out dead before the first byte of an answer is replaced and the
// request sent again, POST included: the other side may see it twice, so receivers send a key.
// Certificates are always verified, TLS is at least 1.2. `ca_file` replaces the system's
// authorities. `server_name` is what we ask for in the handshake (SNI) and require in the
// certificate; the connection and the Host header still follow the URL. CA and key files are read
// again for each new connection. The environment's proxies (http_proxy, no_proxy …) count for
// nothing. Credentials for the proxy itself are a header `Proxy-Authorization` among
// `access.headers`; it is sent only to the proxy. Redirects: one to another scheme, host or port,
// or beyond `same_host_redirects`, comes back as the response that it is. 307 and 308 repeat the
// request as it was, 301 to 303 are followed for GET and HEAD only. Credentials are read for each
// request. After a 401 those that lie in files are read once more, and the request is repeated if
// they have changed. Gzip is asked for and decoded. `max_bytes` counts decoded bytes; headers may
// have 64 KiB. Errors read "GET https://host/…: reason", those that `on_body` returned too; it may
// have been given pieces before any error. Answers may repeat what they were sent: errors, and the
// bodies of statuses that are not 2xx, hold "***" in place of the request's secrets. TLS failures
// are ErrorKind::unavailable (certificates get renewed); an unusable URL, header, CA or key file is
// ErrorKind::invalid.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "queries/base/http_client.h"
#include "queries/base/secret.h"

namespace outcomed {

class CurlLane;
struct Attempt;

struct CurlOptions {
  Duration connect_timeout = 5s;  // Name look-up, TCP and TLS together; HttpRequest::timeout rules.
  std::string user_agent = "outcomed";
  // Asked about ten times a second by each request that waits, from that request's thread. Once it
  // says true, requests end with ErrorKind::unavailable.
  std::function<bool()> stopping;
};

// Thread-safe: each request borrows a connection cache of its own from a pool. `secrets` must be
// thread-safe and outlive the client. The process must ignore SIGPIPE.
class CurlClient final : public HttpClient {
 public:
  explicit CurlClient(SecretReader& secrets, CurlOptions options = {});
  ~CurlClient() override;

  Result<HttpResponse> send(const HttpRequest& request) override;

 private:
  Result<HttpResponse> exchange(CurlLane& lane, Attempt& attempt);
  std::unique_ptr<CurlLane> take_lane(const std::string& origin);
  void give_back(std::unique_ptr<CurlLane> lane);

  SecretReader& secrets_;
  const CurlOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CurlLane>> idle_;
};

}  // namespace outcomed
