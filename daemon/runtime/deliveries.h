// The threads that tell people: one for each queue and one for each mirror, that is, each
// peer of an Alertmanager.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "daemon/assembly.h"
#include "daemon/clock.h"
#include "daemon/runtime/observer.h"
#include "daemon/runtime/wakeup.h"

namespace outcomed {

class Deliveries {
 public:
  Deliveries(const Assembly& assembly, Store& store, Clock& clock, std::function<double()> jitter,
             Observer& observer);
  ~Deliveries();

  void start();
  void wake();  // There is news.
  void stop();  // Waits for what is being sent.
  // Nobody waits for a message, as far as the last round of each knows, and no receiver's newest
  // outcome is a dead letter. That counts until a message is delivered there, or the daemon is
  // started or its configuration read anew: people repair a receiver and then do that.
  [[nodiscard]] bool all_told() const;
  // One round each: `run --once`. Queues in this thread, mirrors side by side. True if everything
  // was delivered.
  bool run_once();

 private:
  struct Queue {
    std::string name;
    std::shared_ptr<Receiver> receiver;
    std::unique_ptr<OutboxDelivery> delivery;
    Wakeup wakeup;
    std::atomic<bool> all_told = true;
  };
  struct Mirrored {
    std::shared_ptr<Mirror> mirror;
    std::unique_ptr<MirrorDelivery> delivery;
    Wakeup wakeup;
    std::atomic<bool> all_told = true;
  };

  void drain(Queue& queue, const std::stop_token& stop);
  static bool has_told_all(const Queue& queue);
  void mirror(Mirrored& mirrored, const std::stop_token& stop);
  // Nothing where the store failed.
  std::optional<SendResult> mirror_round(Mirrored& mirrored);

  Clock& clock_;
  Observer& observer_;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::vector<std::unique_ptr<Mirrored>> mirrors_;
  std::vector<std::jthread> threads_;
};

}  // namespace outcomed
