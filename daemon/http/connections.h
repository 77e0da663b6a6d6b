// The open connections: how many there may be, which take too long, and the end of all at the stop.
//
// libmicrohttpd's own timeout starts anew with each byte, so a client that sends one byte now and
// then would hold a connection for ever; its own limit (0.9.75) leaves a mutex locked when a
// connection is handed to it; and it dereferences null when it refuses a malformed request while it
// is being stopped, so it may be stopped only when no connection is left.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <unordered_map>

#include "daemon/clock.h"

namespace outcomed {

class Connections {
 public:
  struct Limits {
    std::size_t count = 256;
    Duration request =
        15s;               // From connecting, the last reply or the request line to the last byte.
    Duration reply = 60s;  // To take the whole reply.
  };

  // Looks for late ones once a second of `clock`.
  Connections(Clock& clock, Limits limits);

  // All thread-safe. Waits until there may be one more; false: stopped.
  bool wait_for_room(const std::stop_token& stop);
  void handed_over();  // One more is on its way to the thread that serves it,
  void not_taken();    // or wasn't taken after all.

  // From that thread. A socket is open from opened() until closed() returns.
  void opened(int socket);
  void request_line_read(int socket);
  void work_began(int socket);  // The request is whole; the handler may take its time.
  void reply_began(int socket);
  void reply_ended(int socket);
  void closed(int socket);

  // Waits until no request is between work_began and reply_ended, at most for `grace`.
  void wait_until_idle(Duration grace);
  // Ends every connection and waits until they are closed, at most for `grace`.
  void end_all(Duration grace);

 private:
  struct Connection {
    SteadyTime deadline;
    bool is_busy = false;
  };

  void set(int socket, Duration from_now, bool is_busy);
  void watch(const std::stop_token& stop);

  Clock& clock_;
  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::unordered_map<int, Connection> open_;
  std::size_t on_the_way_ = 0;
  SteadyTime last_handed_over_;
  int busy_ = 0;
  bool is_ending_ = false;
  std::jthread watcher_;  // Last: it uses the others.
};

}  // namespace outcomed
