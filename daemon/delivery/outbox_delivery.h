// Drains the outbox of one receiver: in order, batched by group, each attempt written down before
// it is made, so that a crash in between repeats the same message under the same key.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "alerts/outbox.h"
#include "alerts/store.h"

namespace outcomed {

// News that nobody will be told any more.
struct DeadLetter {
  std::string episode;
  std::string alert;  // Its labels.
  AlertStatus status = AlertStatus::firing;
};

struct DeliveryReport {
  std::string receiver;
  SendResult::Outcome outcome = SendResult::Outcome::retry;
  std::string detail;
  std::size_t alerts = 0;
  int attempts = 0;
  std::vector<DeadLetter> dead;
  std::size_t waiting = 0;  // Rows of this receiver that are still to be told.
  Duration took{};
};

class OutboxDelivery {
 public:
  struct Hooks {
    std::function<Timestamp()> now;
    std::function<double()> jitter;  // In [0, 1).
    std::function<void(const DeliveryReport&)> report;
  };

  OutboxDelivery(std::string outbox, Receiver& receiver, Store& store, RetryPolicy policy,
                 Hooks hooks);

  // Sends everything that is due, one message after the other. Gives the time of the next attempt,
  // if any; an error is one of the store.
  Result<std::optional<Timestamp>> round();

  struct Depth {
    std::size_t rows = 0;
    std::optional<Timestamp> oldest;
  };
  [[nodiscard]] Depth depth() const { return depth_; }
  // The newest news that were settled are a dead letter: this receiver takes nothing, or not all.
  [[nodiscard]] bool losing() const { return losing_; }

 private:
  Status send(std::vector<OutboxRow> rows);
  void note(const std::vector<OutboxRow>& settled, DeliveryReport& report);
  Status drop(OutboxRow& row, std::string why);
  Status drop_what_nobody_needs(std::vector<OutboxRow>& queued);
  Result<bool> never_told(const OutboxRow& resolve);

  std::string outbox_;
  Receiver& receiver_;
  Store& store_;
  RetryPolicy policy_;
  Hooks hooks_;
  Depth depth_;
  bool losing_ = false;
};

// Rows of one group that may travel in one message: never attempted ones together, attempted ones
// only with those they were attempted with. Rows keep their order.
std::vector<std::vector<OutboxRow>> batches(std::vector<OutboxRow> due);

}  // namespace outcomed
