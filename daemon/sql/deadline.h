// Waiting for a socket until a moment. Sockets wait in real time, so deadlines here are kept in it
// too.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "queries/base/time.h"

namespace outcomed {

class SqlDeadline {
 public:
  explicit SqlDeadline(Duration left) : until_(std::chrono::steady_clock::now() + left) {}

  [[nodiscard]] Duration left() const {
    const auto rest = std::chrono::ceil<Duration>(until_ - std::chrono::steady_clock::now());
    return std::max(Duration::zero(), rest);
  }
  // What of `events` happened; 0 when the time is over.
  [[nodiscard]] short wait(int fd, short events) const {
    for (;;) {
      pollfd one{fd, events, 0};
      const int ready =
          poll(&one, 1, static_cast<int>(std::min(left(), Duration(3'600'000)).count()));
      if (ready > 0) return one.revents;
      if (ready == 0 || errno != EINTR) return 0;
    }
  }

 private:
  std::chrono::steady_clock::time_point until_;
};

}  // namespace outcomed
