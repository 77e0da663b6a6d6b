// What happens in the running daemon, for logs and metrics. Called from several threads.
#pragma once

#include <string>
#include <vector>

#include "daemon/config/problem.h"
#include "daemon/delivery/mirror_delivery.h"
#include "daemon/delivery/outbox_delivery.h"
#include "daemon/engine/engine.h"

namespace outcomed {

struct TickTiming {
  Duration took{};
  Duration late{};           // After it was due.
  std::uint64_t missed = 0;  // Rounds that could not be held in time.
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void ticked(const TickReport& report, const TickTiming& timing, const Engine& engine) = 0;
  // Of a single round that ends now: steps of a source that were not judged, in words.
  virtual void incomplete(const std::string& source, const std::string& gaps) = 0;
  virtual void polled(const std::string& source, const Status& result, Duration took) = 0;
  virtual void delivered(const DeliveryReport& report) = 0;
  virtual void outbox_depth(const std::string& outbox, OutboxDelivery::Depth depth,
                            Timestamp now) = 0;
  virtual void mirrored(const std::string& receiver, const MirrorDelivery::Round& round) = 0;
  virtual void heartbeat(const Status& result) = 0;
  virtual void store_failed(const std::string& task, const Error& error) = 0;
  virtual void reloaded(bool success, const std::vector<ConfigProblem>& problems,
                        const std::string& message) = 0;
};

}  // namespace outcomed
