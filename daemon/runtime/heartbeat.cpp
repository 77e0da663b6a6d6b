#include "daemon/runtime/heartbeat.h"

#include <fmt/core.h>

namespace outcomed {
namespace {

constexpr Duration kTimeout = std::chrono::seconds(10);
// Ticks come on a grid; one that is a little early must not cost a beat.
constexpr Duration kSlack = std::chrono::seconds(1);

}  // namespace

Heartbeat::Heartbeat(HeartbeatConfig config, HttpClient& http, Clock& clock, Observer& observer)
    : config_(std::move(config)),
      http_(http),
      clock_(clock),
      observer_(observer),
      thread_([this](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          wakeup_.wait_for(std::chrono::hours(1), stop);
          if (wanted_.exchange(false) && !stop.stop_requested()) send();
        }
      }) {}

void Heartbeat::beat() {
  const SteadyTime now = clock_.steady_now();
  if (last_ && now - *last_ + kSlack < config_.every) return;
  last_ = now;
  wanted_ = true;
  wakeup_.wake();
}

void Heartbeat::send() {
  HttpRequest request;
  request.url = config_.url;
  request.access = config_.access;
  request.timeout = kTimeout;
  request.max_bytes = 64 * 1024;
  const auto answer = http_.send(request);
  if (!answer) {
    observer_.heartbeat(answer.error());
  } else if (answer->status / 100 != 2) {
    observer_.heartbeat(Error{ErrorKind::unavailable, fmt::format("HTTP {}", answer->status)});
  } else {
    observer_.heartbeat(ok());
  }
}

}  // namespace outcomed
