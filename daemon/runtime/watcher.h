// The engine on the clock: one thread that is the sole writer, one thread for each source that
// polls, the deliveries, and what the HTTP handlers may see.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "daemon/assembly.h"
#include "daemon/clock.h"
#include "daemon/config/loader.h"
#include "daemon/runtime/deliveries.h"
#include "daemon/runtime/observer.h"
#include "daemon/runtime/wakeup.h"

namespace outcomed {

// Answers made after each tick; immutable, replaced as a whole.
struct Snapshot {
  std::string alerts;
  std::string rules;
};

class Watcher {
 public:
  struct World {
    HttpClient& http;           // For sources.
    HttpClient& receiver_http;  // For receivers: what is being sent may end after stop was asked.
    SecretReader& secrets;
    Store& store;
    Clock& clock;
    std::function<double()> jitter;
    Observer& observer;
  };

  explicit Watcher(World world);
  ~Watcher();

  // Builds the engine and restores it from the store. On an error what ran before goes on
  // unchanged.
  Status load(LoadedConfig loaded);

  // The configuration on disk is not in force, and why: the alert `config_broken`, from the next
  // tick on, until a load().
  void config_broken(std::string reason);

  // One tick and one round of deliveries in this thread; true if every source answered and
  // everything was delivered.
  bool run_once();

  // Ticks until `stop`. `before_tick` runs between ticks (reload, watchdog) and may call load();
  // `after_tick` when a tick is finished.
  void run(const std::stop_token& stop, const std::function<void()>& before_tick,
           const std::function<void()>& after_tick);
  void wake() { wakeup_.wake(); }

  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot() const;
  // Explains a rule as of the last tick; nothing while a tick runs for longer than `patience`.
  std::optional<std::string> explain(const std::string& rule, const Matchers& matchers,
                                     Duration patience);
  [[nodiscard]] bool ready() const { return snapshot() != nullptr; }

 private:
  struct Running;  // Everything that a reload replaces.

  TickReport tick(Timestamp due);
  [[nodiscard]] Timestamp next_due() const;
  void publish();

  World world_;
  Wakeup wakeup_;
  std::timed_mutex engine_mutex_;  // Held while the engine moves.
  std::unique_ptr<Running> running_;
  mutable std::mutex snapshot_mutex_;
  std::shared_ptr<const Snapshot> snapshot_;
};

}  // namespace outcomed
