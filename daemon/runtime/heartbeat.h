// Tells somebody outside that the watch goes on, so that its own death is noticed: a request to a
// URL after ticks in which everything worked. Who gets none for too long raises the alarm.
#pragma once

#include <atomic>
#include <optional>
#include <thread>

#include "daemon/clock.h"
#include "daemon/config/config.h"
#include "daemon/runtime/observer.h"
#include "daemon/runtime/wakeup.h"
#include "queries/base/http_client.h"

namespace outcomed {

class Heartbeat {
 public:
  // The client, clock and observer outlive it. Starts a thread; ending waits for what is being
  // sent.
  Heartbeat(HeartbeatConfig config, HttpClient& http, Clock& clock, Observer& observer);

  // A whole cycle went well: sources answered, the tick was stored, everybody was told. Returns at
  // once; a beat that follows the last one sooner than `every` is left out.
  void beat();

 private:
  void send();

  HeartbeatConfig config_;
  HttpClient& http_;
  Clock& clock_;
  Observer& observer_;
  std::optional<SteadyTime> last_;  // Of the engine's thread.
  std::atomic<bool> wanted_ = false;
  Wakeup wakeup_;
  std::jthread thread_;  // Last: it uses all others.
};

}  // namespace outcomed
