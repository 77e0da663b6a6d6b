// One thread that serves connections: libmicrohttpd without a listening socket.
//
// After a batch of exactly 128 events libmicrohttpd 0.9.75 waits for more before it serves those
// (up to the idle timeout), so a loop is given fewer connections than that.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <tuple>

#include "daemon/http/admission.h"
#include "daemon/http/connections.h"

struct MHD_Connection;
struct MHD_Daemon;
struct sockaddr;

namespace outcomed {

// What all loops of a server share; outlives them.
struct LoopContext {
  Admission admission;
  Connections connections;
  std::function<void(const std::string&)> on_handler_error;
  Duration idle_timeout;
  std::atomic<bool> is_stopping = false;  // Answers then ask the client to close.
};

class HttpLoop {
 public:
  static constexpr int kMostConnections = 126;

  explicit HttpLoop(LoopContext& context) : context_(context) {}
  ~HttpLoop();  // Only when `connections` has none left.
  HttpLoop(const HttpLoop&) = delete;
  HttpLoop& operator=(const HttpLoop&) = delete;

  bool start();
  // Takes over `socket`; false: it is closed again. Callable from another thread.
  bool add(int socket, const sockaddr* from, unsigned size);
  // Full, or a handler runs, then the number of connections: less is better.
  [[nodiscard]] std::tuple<bool, bool, int> load() const {
    const int connections = connections_;
    return {connections >= kMostConnections, is_working_, connections};
  }

 private:
  struct Exchange;
  struct Callbacks;  // libmicrohttpd's.

  void closed(Exchange& exchange);
  // These say whether the connection lives on.
  bool begin(MHD_Connection* connection, Exchange& exchange, const char* method,
             const char* version);
  bool take_body(Exchange& exchange, const char* data, std::size_t& size) const;
  bool finish(MHD_Connection* connection, Exchange& exchange);
  bool send(MHD_Connection* connection, Exchange& exchange, HttpReply reply, bool close);
  HttpReply answer(Exchange& exchange);
  HttpReply run(const HttpRoute& route, const HttpRequestIn& request);

  LoopContext& context_;
  MHD_Daemon* daemon_ = nullptr;
  std::atomic<int> connections_ = 0;
  std::atomic<bool> is_working_ = false;
};

}  // namespace outcomed
