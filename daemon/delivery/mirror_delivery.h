// Keeps one mirror (a peer of Alertmanager) in step with the episodes: all that fires, and what
// resolved in the last fifteen minutes, again and again. The store is the queue: after a crash the
// next round says it all anew.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "alerts/receiver.h"
#include "alerts/store.h"
#include "daemon/engine/announcer.h"

namespace outcomed {

class MirrorDelivery {
 public:
  static constexpr Duration kResolvedFor = std::chrono::minutes(15);

  MirrorDelivery(std::string receiver, Mirror& mirror, Store& store,
                 std::shared_ptr<const Announcer> announcer);

  struct Round {
    std::size_t alerts = 0;
    std::string peer;
    SendResult result;
  };
  Result<Round> round(Timestamp now);
  [[nodiscard]] Duration resend_interval() const { return mirror_.resend_interval(); }
  [[nodiscard]] const std::string& receiver() const { return receiver_; }

 private:
  std::string receiver_;
  Mirror& mirror_;
  Store& store_;
  std::shared_ptr<const Announcer> announcer_;
};

}  // namespace outcomed
