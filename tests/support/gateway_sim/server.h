// Serves a simulated gateway over HTTP on 127.0.0.1.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "queries/base/result.h"
#include "tests/support/gateway_sim/gateway.h"

struct MHD_Daemon;

namespace outcomed::sim {

// GET /metrics answers 307 to /metrics/; that shows the page, in OpenMetrics where Accept names it;
// /health/readiness tells the version. With a key, 401 to who doesn't send it. A gateway that is
// restarting answers 503.
class Server {
 public:
  // `now` gives Unix milliseconds and is called for each request. Port 0: any free one. The gateway
  // is only touched under `mutex()`.
  static Result<std::unique_ptr<Server>> start(Gateway& gateway, std::uint16_t port,
                                               std::string key, std::function<std::int64_t()> now);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::mutex& mutex() { return mutex_; }

  struct Answer {
    int status = 200;
    std::string type = "text/plain; version=0.0.4; charset=utf-8";
    std::string location;
    std::string body;
  };
  // What the gateway answers; header values are empty where the client sent none.
  Answer answer(std::string_view method, std::string_view path, std::string_view host,
                std::string_view authorization, std::string_view accept);

 private:
  Server(Gateway& gateway, std::string key, std::function<std::int64_t()> now);

  Gateway& gateway_;
  std::string key_;
  std::function<std::int64_t()> now_;
  std::mutex mutex_;
  MHD_Daemon* daemon_ = nullptr;
};

}  // namespace outcomed::sim
