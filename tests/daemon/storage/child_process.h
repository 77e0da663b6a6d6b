// A second process for tests of locks and crashes. Fork before any store is open: SQLite's
// connections must not cross it.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <stdexcept>

namespace outcomed::testing {

// Runs `body(tell)` in a child that ends with its return value; `tell()` sends the parent one byte.
class ChildProcess {
 public:
  using Tell = std::function<void()>;

  explicit ChildProcess(const std::function<int(const Tell&)>& body) {
    if (pipe(pipe_) != 0) throw std::runtime_error("pipe");
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ == 0) {
      close(pipe_[0]);
      const int result = body([this] {
        const char byte = 'x';
        if (write(pipe_[1], &byte, 1) != 1) _exit(120);
      });
      _exit(result);
    }
    close(pipe_[1]);
  }
  ~ChildProcess() {
    kill();
    close(pipe_[0]);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Blocks until told; false when the child has ended.
  bool hear() {
    char byte = 0;
    return read(pipe_[0], &byte, 1) == 1;
  }
  bool is_running() {
    if (pid_ > 0) {
      int raw = 0;
      if (waitpid(pid_, &raw, WNOHANG) == pid_) ended(raw);
    }
    return pid_ > 0;
  }
  void kill() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    wait();
  }
  // The exit status, or -1 for a signal.
  int wait() {
    if (pid_ <= 0) return status_;
    int raw = 0;
    while (waitpid(pid_, &raw, 0) < 0 && errno == EINTR) {
    }
    ended(raw);
    return status_;
  }

 private:
  void ended(int raw) {
    pid_ = 0;
    status_ = WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
  }

  int pipe_[2] = {-1, -1};
  pid_t pid_ = 0;
  int status_ = -1;
};

}  // namespace outcomed::testing
