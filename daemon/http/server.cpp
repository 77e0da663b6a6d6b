#include "daemon/http/server.h"

#include <fmt/core.h>
#include <microhttpd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <deque>
#include <new>

#include "daemon/http/acceptor.h"
#include "daemon/http/admission.h"
#include "daemon/http/connections.h"
#include "daemon/http/listener.h"
#include "daemon/http/response.h"

namespace outcomed {
namespace {

constexpr std::size_t kHeaderMemory = 32 * 1024;
// A body that is somewhat too long is read to its end, so that its sender gets to see the 413.
constexpr std::size_t kDrainFactor = 16;

// libmicrohttpd notices an ended connection at once unless a handler blocks its thread.
constexpr Duration kEndGrace = 30s;

// Connections keeps the limit; libmicrohttpd's own must never be met.
constexpr unsigned kNoConnectionLimit = 1U << 20U;

// One connection and the request that it carries now.
struct Exchange {
  int socket = -1;
  std::string target;  // As sent.
  bool is_begun = false;
  std::size_t received = 0;
  HttpRequestIn request;
  std::variant<const HttpRoute*, HttpReply> admitted = nullptr;

  void begin_next() {
    const int kept = socket;
    *this = {};
    socket = kept;
  }
};

// Null where there was no memory for one.
Exchange* exchange_of(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == nullptr ? nullptr : static_cast<Exchange*>(info->socket_context);
}

MHD_Result keep_header(void* list, MHD_ValueKind, const char* name, const char* value) noexcept {
  try {
    auto& header = static_cast<TextPairList*>(list)->emplace_back(name, value ? value : "");
    for (char& c : header.first) {
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return MHD_YES;
  } catch (...) {
    return MHD_NO;
  }
}

class MicrohttpdServer final : public HttpServer {
 public:
  MicrohttpdServer(HttpServerOptions options, HttpRoutes routes, Clock& clock)
      : options_(std::move(options)),
        admission_(std::move(routes), options_.host_names, options_.max_body),
        connections_(
            clock, {options_.connection_limit, options_.request_timeout, options_.reply_timeout}) {}
  ~MicrohttpdServer() override { stop(Duration::zero()); }

  Status listen();
  [[nodiscard]] std::uint16_t port() const override { return port_; }
  void stop(Duration grace) override;

 private:
  // One libmicrohttpd with one thread.
  struct Loop {
    MicrohttpdServer& server;
    MHD_Daemon* daemon = nullptr;
    std::atomic<int> connections = 0;
    std::atomic<bool> is_working = false;  // A handler runs, the others of this loop wait.
  };

  // libmicrohttpd's callbacks. Nothing may be thrown through it.
  static MHD_Result on_request(void* loop, MHD_Connection* connection, const char* url,
                               const char* method, const char* version, const char* data,
                               size_t* size, void** context) noexcept;
  static void* on_request_line(void* loop, const char* uri, MHD_Connection* connection) noexcept;
  static void on_completed(void* loop, MHD_Connection* connection, void** context,
                           MHD_RequestTerminationCode code) noexcept;
  static void on_connection(void* loop, MHD_Connection* connection, void** context,
                            MHD_ConnectionNotificationCode code) noexcept;

  bool start_loop();
  Loop& quietest_loop();
  MHD_Result begin(MHD_Connection* connection, Exchange& exchange, const char* method,
                   const char* version);
  MHD_Result take_body(Exchange& exchange, const char* data, size_t& size) const;
  HttpReply answer(Exchange& exchange);
  HttpReply run(const HttpRoute& route, const HttpRequestIn& request);
  MHD_Result send(MHD_Connection* connection, Exchange& exchange, HttpReply reply, bool close);

  HttpServerOptions options_;
  Admission admission_;
  Connections connections_;
  std::deque<Loop> loops_;
  std::unique_ptr<Acceptor> acceptor_;
  std::uint16_t port_ = 0;
  std::atomic<bool> is_stopping_ = false;
};

bool MicrohttpdServer::start_loop() {
  Loop& loop = loops_.emplace_back(*this);
  void* const self = &loop;
  const auto timeout = std::chrono::ceil<std::chrono::seconds>(options_.request_timeout).count();
  loop.daemon =
      MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_NO_LISTEN_SOCKET, 0,
                       nullptr, nullptr, &on_request, self,                            //
                       MHD_OPTION_CONNECTION_LIMIT, kNoConnectionLimit,                //
                       MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(timeout),  //
                       MHD_OPTION_CONNECTION_MEMORY_LIMIT, kHeaderMemory,              //
                       MHD_OPTION_STRICT_FOR_CLIENT, 1,                                //
                       MHD_OPTION_URI_LOG_CALLBACK, &on_request_line, self,            //
                       MHD_OPTION_NOTIFY_COMPLETED, &on_completed, self,               //
                       MHD_OPTION_NOTIFY_CONNECTION, &on_connection, self,             //
                       MHD_OPTION_END);
  return loop.daemon != nullptr;
}

Status MicrohttpdServer::listen() {
  const auto address = parse_listen_address(options_.listen);
  if (!address) return address.error();
  const auto listener = listen_on(*address);
  if (!listener) return listener.error();
  port_ = near_port(*listener);
  for (unsigned i = 0; i < options_.threads; ++i) {
    if (start_loop()) continue;
    ::close(*listener);
    return Error{
        ErrorKind::unavailable,
        fmt::format("listen on {}: the HTTP server's threads did not start", address->to_string())};
  }
  acceptor_ = std::make_unique<Acceptor>(
      *listener, connections_, [this](int socket, const sockaddr* from, unsigned size) {
        return MHD_add_connection(quietest_loop().daemon, socket, from, size) == MHD_YES;
      });
  return ok();
}

MicrohttpdServer::Loop& MicrohttpdServer::quietest_loop() {
  const auto load = [](const Loop& loop) {
    return std::make_pair(loop.is_working.load(), loop.connections.load());
  };
  return *std::min_element(loops_.begin(), loops_.end(),
                           [&](const Loop& a, const Loop& b) { return load(a) < load(b); });
}

void MicrohttpdServer::stop(Duration grace) {
  is_stopping_ = true;
  acceptor_.reset();
  connections_.wait_until_idle(grace);
  connections_.end_all(kEndGrace);
  for (Loop& loop : loops_) {
    if (loop.daemon != nullptr) MHD_stop_daemon(loop.daemon);
  }
  loops_.clear();
}

void MicrohttpdServer::on_connection(void* self, MHD_Connection* connection, void** context,
                                     MHD_ConnectionNotificationCode code) noexcept {
  Loop& loop = *static_cast<Loop*>(self);
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    auto* exchange = new (std::nothrow) Exchange;
    *context = exchange;
    if (exchange == nullptr) return;
    exchange->socket =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    ++loop.connections;
    loop.server.connections_.opened(exchange->socket);
  } else if (auto* exchange = static_cast<Exchange*>(*context); exchange != nullptr) {
    --loop.connections;
    loop.server.connections_.closed(exchange->socket);
    delete exchange;
    *context = nullptr;
  }
}

// The only place that shows the target before libmicrohttpd decodes it.
void* MicrohttpdServer::on_request_line(void* self, const char* uri,
                                        MHD_Connection* connection) noexcept {
  if (Exchange* exchange = exchange_of(connection); exchange != nullptr) {
    exchange->begin_next();
    try {
      exchange->target = uri;
    } catch (...) {  // Stays empty, which is refused.
    }
    static_cast<Loop*>(self)->server.connections_.request_line_read(exchange->socket);
  }
  return nullptr;
}

void MicrohttpdServer::on_completed(void* self, MHD_Connection* connection, void**,
                                    MHD_RequestTerminationCode) noexcept {
  if (Exchange* exchange = exchange_of(connection); exchange != nullptr) {
    exchange->begin_next();
    static_cast<Loop*>(self)->server.connections_.reply_ended(exchange->socket);
  }
}

// Called once for the head, then for each piece of the body, then once more at its end.
MHD_Result MicrohttpdServer::on_request(void* self, MHD_Connection* connection, const char*,
                                        const char* method, const char* version, const char* data,
                                        size_t* size, void**) noexcept {
  Loop& loop = *static_cast<Loop*>(self);
  MicrohttpdServer& server = loop.server;
  Exchange* exchange = exchange_of(connection);
  if (exchange == nullptr) return MHD_NO;
  try {
    if (!exchange->is_begun) return server.begin(connection, *exchange, method, version);
    if (*size > 0) return server.take_body(*exchange, data, *size);
    server.connections_.work_began(exchange->socket);
    loop.is_working = true;
    HttpReply reply = server.answer(*exchange);
    loop.is_working = false;
    return server.send(connection, *exchange, std::move(reply), server.is_stopping_);
  } catch (...) {
    return MHD_NO;  // Out of memory: this connection ends, the others go on.
  }
}

MHD_Result MicrohttpdServer::begin(MHD_Connection* connection, Exchange& exchange,
                                   const char* method, const char* version) {
  exchange.is_begun = true;
  HttpRequestIn& request = exchange.request;
  request.method = method;
  request.peer = far_address(exchange.socket);
  MHD_get_connection_values(connection, MHD_HEADER_KIND, &keep_header, &request.headers);
  exchange.admitted =
      admission_.admit(request, exchange.target, version, near_address(exchange.socket));
  auto* refusal = std::get_if<HttpReply>(&exchange.admitted);
  if (refusal == nullptr || !announces_body(request)) return MHD_YES;
  // A reply at this point ends the connection: the body is never read.
  return send(connection, exchange, std::move(*refusal), true);
}

MHD_Result MicrohttpdServer::take_body(Exchange& exchange, const char* data, size_t& size) const {
  exchange.received += size;
  if (exchange.received > admission_.max_body() * kDrainFactor) return MHD_NO;
  if (exchange.received > admission_.max_body()) {
    exchange.request.body.clear();
  } else {
    exchange.request.body.append(data, size);
  }
  size = 0;
  return MHD_YES;
}

HttpReply MicrohttpdServer::answer(Exchange& exchange) {
  if (auto* refusal = std::get_if<HttpReply>(&exchange.admitted)) return std::move(*refusal);
  if (exchange.received > admission_.max_body()) return admission_.too_large();
  if (auto refusal = admission_.refuse_whole(exchange.request)) return *std::move(refusal);
  return run(*std::get<const HttpRoute*>(exchange.admitted), exchange.request);
}

HttpReply MicrohttpdServer::run(const HttpRoute& route, const HttpRequestIn& request) {
  std::string problem = "unknown exception";
  try {
    return route.handler(request);
  } catch (const std::exception& e) {
    problem = e.what();
  } catch (...) {
  }
  if (options_.on_handler_error) {
    options_.on_handler_error(fmt::format("{} {}: {}", route.method, route.path, problem));
  }
  return HttpReply::text(500, "the request failed here; the log says why");
}

MHD_Result MicrohttpdServer::send(MHD_Connection* connection, Exchange& exchange, HttpReply reply,
                                  bool close) {
  const auto status = static_cast<unsigned>(reply.status);
  MHD_Response* response = make_response(std::move(reply), close);
  if (response == nullptr) return MHD_NO;
  connections_.reply_began(exchange.socket);
  const MHD_Result queued = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return queued;
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(HttpServerOptions options, HttpRoutes routes,
                                                      Clock& clock) {
  auto server = std::make_unique<MicrohttpdServer>(std::move(options), std::move(routes), clock);
  if (Status listening = server->listen(); !listening) return listening.error();
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace outcomed
