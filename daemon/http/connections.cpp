#include "daemon/http/connections.h"

#include <sys/socket.h>

namespace outcomed {
namespace {

constexpr Duration kLook = 1s;
constexpr Duration kNoLimit = 24h;

// Only shut: the server owns the socket, notices the end, and calls closed() before it closes it.
void end_connection(int socket) { shutdown(socket, SHUT_RDWR); }

}  // namespace

Connections::Connections(Clock& clock, Limits limits)
    : clock_(clock),
      limits_(limits),
      watcher_([this](const std::stop_token& stop) { watch(stop); }) {}

void Connections::watch(const std::stop_token& stop) {
  while (clock_.sleep_until(clock_.steady_now() + kLook, stop)) {
    const std::lock_guard lock(mutex_);
    const SteadyTime now = clock_.steady_now();
    for (const auto& [socket, connection] : open_) {
      if (connection.deadline <= now) end_connection(socket);
    }
    // libmicrohttpd doesn't tell when it had no memory for one.
    if (open_.empty() && on_the_way_ > 0 && now - last_handed_over_ > limits_.request) {
      on_the_way_ = 0;
      changed_.notify_all();
    }
  }
}

bool Connections::wait_for_room(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  // Where none is open, those on the way were lost for want of memory.
  return changed_.wait(lock, stop,
                       [&] { return open_.empty() || open_.size() + on_the_way_ < limits_.count; });
}

void Connections::handed_over() {
  const std::lock_guard lock(mutex_);
  ++on_the_way_;
  last_handed_over_ = clock_.steady_now();
}

void Connections::not_taken() {
  const std::lock_guard lock(mutex_);
  if (on_the_way_ > 0) --on_the_way_;
  changed_.notify_all();
}

void Connections::set(int socket, Duration from_now, bool is_busy) {
  const std::lock_guard lock(mutex_);
  Connection& connection = open_[socket];
  connection.deadline = clock_.steady_now() + from_now;
  busy_ += static_cast<int>(is_busy) - static_cast<int>(connection.is_busy);
  connection.is_busy = is_busy;
  if (is_ending_) end_connection(socket);
  changed_.notify_all();
}

void Connections::opened(int socket) {
  set(socket, limits_.request, false);
  not_taken();
}

void Connections::request_line_read(int socket) { set(socket, limits_.request, false); }
void Connections::work_began(int socket) { set(socket, kNoLimit, true); }
void Connections::reply_began(int socket) { set(socket, limits_.reply, true); }
void Connections::reply_ended(int socket) { set(socket, limits_.request, false); }

void Connections::closed(int socket) {
  set(socket, kNoLimit, false);
  const std::lock_guard lock(mutex_);
  open_.erase(socket);
  changed_.notify_all();
}

void Connections::wait_until_idle(Duration grace) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, grace, [&] { return busy_ == 0 && on_the_way_ == 0; });
}

void Connections::end_all(Duration grace) {
  std::unique_lock lock(mutex_);
  is_ending_ = true;
  for (const auto& entry : open_) end_connection(entry.first);
  changed_.wait_for(lock, grace, [&] { return open_.empty() && on_the_way_ == 0; });
}

}  // namespace outcomed
