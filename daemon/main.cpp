// outcomed: command line in, exit status out.
#include <unistd.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "daemon/clock.h"
#include "daemon/commands/command.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // A reader that goes away is an error of write(), not our end.
  outcomed::SystemClock clock;
  outcomed::Shell shell{std::cout,
                        std::cerr,
                        clock,
                        outcomed::process_environment(),
                        isatty(STDOUT_FILENO) == 1,
                        isatty(STDERR_FILENO) == 1};
  try {
    const auto status = outcomed::dispatch({argv + 1, argv + argc}, shell);
    std::cout.flush();
    if (!std::cout) return static_cast<int>(outcomed::ExitStatus::io);
    return static_cast<int>(status);
  } catch (const std::exception& e) {
    std::cerr << "outcomed: a fault of our own: " << e.what() << "\n";
    return 70;
  }
}
