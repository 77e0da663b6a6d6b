#include "daemon/http/server.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <deque>

#include "daemon/http/acceptor.h"
#include "daemon/http/listener.h"
#include "daemon/http/loop.h"

namespace outcomed {
namespace {

// An ended connection is noticed at once unless a handler blocks its thread.
constexpr Duration kEndGrace = 30s;

std::size_t most_connections(const HttpServerOptions& options) {
  const std::size_t room = std::size_t{options.threads} * HttpLoop::kMostConnections;
  return std::min(options.connection_limit, room);
}

class LoopServer final : public HttpServer {
 public:
  LoopServer(const HttpServerOptions& options, HttpRoutes routes, Clock& clock)
      : context_{
            Admission(std::move(routes), options.host_names, options.max_body),
            {clock, {most_connections(options), options.request_timeout, options.reply_timeout}},
            options.on_handler_error,
            options.request_timeout} {}
  ~LoopServer() override { stop(Duration::zero()); }

  Status listen(const ListenAddress& address, unsigned threads);
  [[nodiscard]] std::uint16_t port() const override { return port_; }
  void stop(Duration grace) override;

 private:
  bool start_loops(unsigned threads);
  HttpLoop& quietest_loop();

  LoopContext context_;
  std::deque<HttpLoop> loops_;
  std::unique_ptr<Acceptor> acceptor_;
  std::uint16_t port_ = 0;
};

bool LoopServer::start_loops(unsigned threads) {
  while (loops_.size() < threads) {
    if (!loops_.emplace_back(context_).start()) return false;
  }
  return true;
}

Status LoopServer::listen(const ListenAddress& address, unsigned threads) {
  const auto listener = listen_on(address);
  if (!listener) return listener.error();
  port_ = near_port(*listener);
  if (!start_loops(threads)) {
    ::close(*listener);
    return Error{
        ErrorKind::unavailable,
        fmt::format("listen on {}: the server's threads can't start", address.to_string())};
  }
  acceptor_ = std::make_unique<Acceptor>(*listener, context_.connections,
                                         [this](int socket, const sockaddr* from, unsigned size) {
                                           return quietest_loop().add(socket, from, size);
                                         });
  return ok();
}

HttpLoop& LoopServer::quietest_loop() {
  return *std::min_element(loops_.begin(), loops_.end(), [](const HttpLoop& a, const HttpLoop& b) {
    return a.load() < b.load();
  });
}

void LoopServer::stop(Duration grace) {
  context_.is_stopping = true;
  acceptor_.reset();
  context_.connections.wait_until_idle(grace);
  context_.connections.end_all(kEndGrace);
  loops_.clear();
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpServerOptions& options,
                                                      HttpRoutes routes, Clock& clock) {
  const auto address = parse_listen_address(options.listen);
  if (!address) return address.error();
  auto server = std::make_unique<LoopServer>(options, std::move(routes), clock);
  if (Status listening = server->listen(*address, options.threads); !listening) {
    return listening.error();
  }
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace outcomed
