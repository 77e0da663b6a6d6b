// An observer that looks away: tests override what they look at.
#pragma once

#include "daemon/runtime/observer.h"

namespace outcomed::testing {

class SilentObserver : public Observer {
 public:
  void ticked(const TickReport&, const TickTiming&, const Engine&) override {}
  void incomplete(const std::string&, const std::string&) override {}
  void polled(const std::string&, const Status&, Duration) override {}
  void delivered(const DeliveryReport&) override {}
  void outbox_depth(const std::string&, OutboxDelivery::Depth, Timestamp) override {}
  void mirrored(const std::string&, const MirrorDelivery::Round&) override {}
  void heartbeat(const Status&) override {}
  void store_failed(const std::string&, const Error&) override {}
  void reloaded(bool, const std::vector<ConfigProblem>&, const std::string&) override {}
};

}  // namespace outcomed::testing
