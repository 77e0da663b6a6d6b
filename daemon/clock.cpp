#include "daemon/clock.h"

#include <condition_variable>
#include <mutex>

namespace outcomed {

Timestamp SystemClock::now() const {
  return std::chrono::floor<Duration>(std::chrono::system_clock::now());
}

SteadyTime SystemClock::steady_now() const { return std::chrono::steady_clock::now(); }

bool SystemClock::sleep_until(SteadyTime until, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any asked;
  std::unique_lock lock(mutex);
  asked.wait_until(lock, stop, until, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace outcomed
