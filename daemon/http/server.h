// The HTTP server: sockets, limits and headers. What it answers is registered by its owner.
//
// Requests are refused before a handler sees them with 400 (not understood), 403 and 415 (a POST
// from another site's page), 404, 405, 413 (body above max_body), 421 (a Host that isn't ours), 431
// (header above 32 KiB). Answers carry headers that keep browsers from running or framing anything.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/clock.h"
#include "daemon/http/routes.h"

namespace outcomed {

struct HttpServerOptions {
  std::string listen = "127.0.0.1:9469";  // parse_listen_address; port 0 takes a free one.
  std::vector<std::string> host_names;  // Allowed in Host beside localhost and the address itself.
  unsigned threads = 2;
  // All together, at most 126 for each thread; further ones wait in the system's queue.
  std::size_t connection_limit = 250;
  std::size_t max_body = 1024 * 1024;
  Duration request_timeout = 15s;  // For a whole request, and between requests.
  Duration reply_timeout = 60s;    // To take the whole answer.
  // Told of what handlers throw; thread-safe. Clients only see a 500.
  std::function<void(const std::string&)> on_handler_error;
};

class HttpServer {
 public:
  // Listens from now on. `clock` must outlive the server.
  static Result<std::unique_ptr<HttpServer>> start(const HttpServerOptions& options,
                                                   HttpRoutes routes, Clock& clock);
  virtual ~HttpServer() = default;  // Stops at once.

  [[nodiscard]] virtual std::uint16_t port() const = 0;
  // Refuses new connections, lets requests in progress finish for at most `grace`, then ends the
  // rest. Once.
  virtual void stop(Duration grace) = 0;
};

}  // namespace outcomed
