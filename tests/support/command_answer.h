// A whole command in this process: arguments in, texts and an exit status out. No environment, and
// the clock stands still.
#pragma once

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "daemon/commands/command.h"
#include "tests/support/fake_clock.h"

namespace outcomed::testing {

struct Answer {
  ExitStatus status = ExitStatus::ok;
  std::string out;
  std::string err;
};

inline Answer run_command(const std::vector<std::string>& arguments, Timestamp now = {},
                          const std::string& standard_input = {}) {
  std::ostringstream out;
  std::ostringstream err;
  std::istringstream in(standard_input);
  FakeClock clock{now};
  Shell shell{out, err, clock, [](const std::string&) { return std::nullopt; }, false, false, &in};
  const ExitStatus status = dispatch(arguments, shell);
  return {status, out.str(), err.str()};
}

}  // namespace outcomed::testing
