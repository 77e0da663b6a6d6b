#include "detectors/window_setting.h"

#include <fmt/core.h>

namespace outcomed {

void check_window(ParamVisitor& visitor, Duration window, Duration step) {
  if (step <= Duration::zero()) return;
  if (window < step) {
    visitor.problem("window",
                    fmt::format("shorter than the signal's step of {}", format_duration(step)),
                    "make it at least one step");
  } else if (window % step != Duration::zero()) {
    visitor.problem(
        "window", fmt::format("not a multiple of the signal's step of {}", format_duration(step)));
  } else if (window / step > 100'000) {
    visitor.problem("window", fmt::format("more than 100000 steps of {}", format_duration(step)),
                    "make it shorter");
  }
}

}  // namespace outcomed
