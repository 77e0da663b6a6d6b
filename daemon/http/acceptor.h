// Takes connections from the listening socket, one thread. libmicrohttpd's own acceptor can't be
// used: stopping it while its threads run (MHD_quiesce_daemon, 0.9.75) races with them and aborts
// the process.
#pragma once

#include <functional>
#include <stop_token>
#include <thread>

#include "daemon/http/connections.h"

struct sockaddr;

namespace outcomed {

class Acceptor {
 public:
  // Takes over `socket`. False: it could not be served and is closed.
  using Take = std::function<bool(int socket, const sockaddr* from, unsigned size)>;

  // Owns `listener`. While there is no room, connections wait in the system's queue.
  Acceptor(int listener, Connections& connections, Take take);
  ~Acceptor();  // From here on connections are refused.
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

 private:
  void run(const std::stop_token& stop);
  // Waits for a connection, or for the stop; milliseconds as poll() counts them.
  void wait(bool for_connection, int milliseconds) const;
  void accept_one();

  const int listener_;
  const int wake_;
  Connections& connections_;
  const Take take_;
  std::jthread thread_;
};

}  // namespace outcomed
