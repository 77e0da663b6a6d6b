// Lets one thread sleep until a time, a call of wake(), or a stop.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

namespace outcomed {

class Wakeup {
 public:
  void wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    condition_.notify_all();
  }
  // Returns at once if wake() was called since the last return.
  void wait_for(std::chrono::milliseconds time, std::stop_token stop) {
    std::unique_lock lock(mutex_);
    condition_.wait_for(lock, std::move(stop), time, [&] { return woken_; });
    woken_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any condition_;
  bool woken_ = false;
};

}  // namespace outcomed
