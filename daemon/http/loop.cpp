#include "daemon/http/loop.h"

#include <fmt/core.h>
#include <microhttpd.h>

#include <cctype>
#include <new>

#include "daemon/http/listener.h"
#include "daemon/http/response.h"

namespace outcomed {
namespace {

constexpr std::size_t kHeaderMemory = 32 * 1024;
// A body that is somewhat too long is read to its end, so that its sender gets to see the 413.
constexpr std::size_t kDrainFactor = 16;
// Connections keeps the limit; libmicrohttpd's own must never be met.
constexpr unsigned kNoConnectionLimit = 1U << 20U;

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

}  // namespace

// One connection and the request that it carries now.
struct HttpLoop::Exchange {
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

// Nothing may be thrown through libmicrohttpd.
struct HttpLoop::Callbacks {
  // Null where there was no memory for one.
  static Exchange* exchange_of(MHD_Connection* connection) {
    const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == nullptr ? nullptr : static_cast<Exchange*>(info->socket_context);
  }

  static void on_connection(void* loop, MHD_Connection* connection, void** context,
                            MHD_ConnectionNotificationCode code) noexcept {
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
      auto* exchange = new (std::nothrow) Exchange;
      *context = exchange;
      if (exchange == nullptr) return;
      exchange->socket =
          MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
      static_cast<HttpLoop*>(loop)->context_.connections.opened(exchange->socket);
    } else if (auto* exchange = static_cast<Exchange*>(*context); exchange != nullptr) {
      static_cast<HttpLoop*>(loop)->closed(*exchange);
      delete exchange;
      *context = nullptr;
    }
  }

  // The only place that shows the target before libmicrohttpd decodes it.
  static void* on_request_line(void* loop, const char* uri, MHD_Connection* connection) noexcept {
    Exchange* exchange = exchange_of(connection);
    if (exchange == nullptr) return nullptr;
    exchange->begin_next();
    try {
      exchange->target = uri;
    } catch (...) {  // Stays empty, which is refused.
    }
    static_cast<HttpLoop*>(loop)->context_.connections.request_line_read(exchange->socket);
    return nullptr;
  }

  // Called once for the head, then for each piece of the body, then once more at its end.
  static MHD_Result on_request(void* self, MHD_Connection* connection, const char*,
                               const char* method, const char* version, const char* data,
                               std::size_t* size, void**) noexcept {
    auto& loop = *static_cast<HttpLoop*>(self);
    Exchange* exchange = exchange_of(connection);
    bool goes_on = false;
    try {
      if (exchange == nullptr) {
      } else if (!exchange->is_begun) {
        goes_on = loop.begin(connection, *exchange, method, version);
      } else if (*size > 0) {
        goes_on = loop.take_body(*exchange, data, *size);
      } else {
        goes_on = loop.finish(connection, *exchange);
      }
    } catch (...) {  // Out of memory: this connection ends, the others go on.
      loop.is_working_ = false;
    }
    return goes_on ? MHD_YES : MHD_NO;
  }

  static void on_completed(void* loop, MHD_Connection* connection, void**,
                           MHD_RequestTerminationCode) noexcept {
    Exchange* exchange = exchange_of(connection);
    if (exchange == nullptr) return;
    exchange->begin_next();
    static_cast<HttpLoop*>(loop)->context_.connections.reply_ended(exchange->socket);
  }
};

HttpLoop::~HttpLoop() {
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
}

bool HttpLoop::start() {
  void* const self = this;
  const auto idle = std::chrono::ceil<std::chrono::seconds>(context_.idle_timeout).count();
  daemon_ = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_NO_LISTEN_SOCKET,
                             0, nullptr, nullptr, &Callbacks::on_request, self,               //
                             MHD_OPTION_CONNECTION_LIMIT, kNoConnectionLimit,                 //
                             MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(idle),      //
                             MHD_OPTION_CONNECTION_MEMORY_LIMIT, kHeaderMemory,               //
                             MHD_OPTION_STRICT_FOR_CLIENT, 1,                                 //
                             MHD_OPTION_URI_LOG_CALLBACK, &Callbacks::on_request_line, self,  //
                             MHD_OPTION_NOTIFY_COMPLETED, &Callbacks::on_completed, self,     //
                             MHD_OPTION_NOTIFY_CONNECTION, &Callbacks::on_connection, self,   //
                             MHD_OPTION_END);
  return daemon_ != nullptr;
}

bool HttpLoop::add(int socket, const sockaddr* from, unsigned size) {
  ++connections_;
  if (MHD_add_connection(daemon_, socket, from, size) == MHD_YES) return true;
  --connections_;
  return false;
}

void HttpLoop::closed(Exchange& exchange) {
  --connections_;
  context_.connections.closed(exchange.socket);
}

bool HttpLoop::begin(MHD_Connection* connection, Exchange& exchange, const char* method,
                     const char* version) {
  exchange.is_begun = true;
  HttpRequestIn& request = exchange.request;
  request.method = method;
  request.peer = far_address(exchange.socket);
  MHD_get_connection_values(connection, MHD_HEADER_KIND, &keep_header, &request.headers);
  exchange.admitted =
      context_.admission.admit(request, exchange.target, version, near_address(exchange.socket));
  auto* refusal = std::get_if<HttpReply>(&exchange.admitted);
  if (refusal == nullptr || !announces_body(request)) return true;
  // A reply at this point ends the connection: the body is never read.
  return send(connection, exchange, std::move(*refusal), true);
}

bool HttpLoop::take_body(Exchange& exchange, const char* data, std::size_t& size) const {
  const std::size_t most = context_.admission.max_body();
  exchange.received += size;
  if (exchange.received > most * kDrainFactor) return false;
  if (exchange.received > most) {
    exchange.request.body.clear();
  } else {
    exchange.request.body.append(data, size);
  }
  size = 0;
  return true;
}

bool HttpLoop::finish(MHD_Connection* connection, Exchange& exchange) {
  context_.connections.work_began(exchange.socket);
  is_working_ = true;
  HttpReply reply = answer(exchange);
  is_working_ = false;
  return send(connection, exchange, std::move(reply), context_.is_stopping);
}

bool HttpLoop::send(MHD_Connection* connection, Exchange& exchange, HttpReply reply, bool close) {
  const auto status = static_cast<unsigned>(reply.status);
  MHD_Response* response = make_response(std::move(reply), close);
  if (response == nullptr) return false;
  context_.connections.reply_began(exchange.socket);
  const MHD_Result queued = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return queued == MHD_YES;
}

HttpReply HttpLoop::answer(Exchange& exchange) {
  const Admission& admission = context_.admission;
  if (auto* refusal = std::get_if<HttpReply>(&exchange.admitted)) return std::move(*refusal);
  if (exchange.received > admission.max_body()) return admission.too_large();
  if (auto refusal = admission.refuse_whole(exchange.request)) return *std::move(refusal);
  return run(*std::get<const HttpRoute*>(exchange.admitted), exchange.request);
}

HttpReply HttpLoop::run(const HttpRoute& route, const HttpRequestIn& request) {
  std::string problem = "unknown exception";
  try {
    return route.handler(request);
  } catch (const std::exception& e) {
    problem = e.what();
  } catch (...) {
  }
  if (context_.on_handler_error) {
    context_.on_handler_error(fmt::format("{} {}: {}", route.method, route.path, problem));
  }
  return HttpReply::text(500, "the request failed here; the log says why");
}

}  // namespace outcomed
