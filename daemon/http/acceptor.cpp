#include "daemon/http/acceptor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace outcomed {
namespace {

// Out of files or memory: others must give some back first.
constexpr int kPauseMs = 100;

bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

Acceptor::Acceptor(int listener, Connections& connections, Take take)
    : listener_(listener),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      connections_(connections),
      take_(std::move(take)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Acceptor::~Acceptor() {
  thread_.request_stop();
  eventfd_write(wake_, 1);
  thread_.join();
  close(listener_);
  close(wake_);
}

void Acceptor::run(const std::stop_token& stop) {
  while (connections_.wait_for_room(stop)) {
    wait(true, -1);
    if (stop.stop_requested()) return;
    accept_one();
  }
}

void Acceptor::wait(bool for_connection, int milliseconds) const {
  pollfd watched[2] = {{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
  poll(watched, for_connection ? 2 : 1, milliseconds);
}

void Acceptor::accept_one() {
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  auto* address = reinterpret_cast<sockaddr*>(&from);
  const int socket = accept4(listener_, address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (socket < 0) {
    if (is_shortage(errno)) wait(false, kPauseMs);
    return;  // Otherwise the client has gone already.
  }
  connections_.handed_over();
  if (!take_(socket, address, size)) connections_.not_taken();
}

}  // namespace outcomed
