// outcomed: command line in, exit status out.
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "daemon/clock.h"
#include "daemon/commands/command.h"

namespace {

// `outcomed … | head`: who reads no more needs no word.
bool reader_left() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // A reader that goes away is an error of write(), not our end.
  outcomed::SystemClock clock;
  outcomed::Shell shell{std::cout,
                        std::cerr,
                        clock,
                        outcomed::process_environment(),
                        isatty(STDOUT_FILENO) == 1,
                        isatty(STDERR_FILENO) == 1,
                        &std::cin};
  try {
    const auto status = outcomed::dispatch({argv + 1, argv + argc}, shell);
    std::cout.flush();
    if (!std::cout) {
      if (!reader_left()) {
        std::cerr << "outcomed: can't write to standard output; what was printed isn't whole\n";
      }
      return static_cast<int>(outcomed::ExitStatus::io);
    }
    return static_cast<int>(status);
  } catch (const std::exception& e) {
    std::cerr << "outcomed: a fault of our own: " << e.what() << "\n";
    return 70;
  }
}
