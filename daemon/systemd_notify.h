// systemd's notification protocol, by hand: one datagram for each message. Without NOTIFY_SOCKET in
// the environment nothing happens.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "queries/base/time.h"

namespace outcomed {

class SystemdNotify {
 public:
  // `socket`: the value of NOTIFY_SOCKET; "@name" is the abstract name space; empty: off.
  explicit SystemdNotify(std::string socket) : socket_(std::move(socket)) {}

  // "READY=1", "STATUS=watching 4 rules", "WATCHDOG=1", …; several lines may go in one message.
  // Waits a second at most. False when it could not be sent: nothing that a caller could mend.
  bool send(std::string_view message) const;

 private:
  std::string socket_;
};

}  // namespace outcomed
