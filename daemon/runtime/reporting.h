// The observer of the running daemon: logs what changes, counts everything.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "daemon/clock.h"
#include "daemon/log.h"
#include "daemon/runtime/observer.h"
#include "daemon/telemetry/metrics.h"

namespace outcomed {

class Reporting final : public Observer {
 public:
  Reporting(Logger& log, Metrics& metrics, Clock& clock)
      : log_(log), metrics_(metrics), clock_(clock) {}

  void ticked(const TickReport& report, const TickTiming& timing, const Engine& engine) override;
  void incomplete(const std::string& source, const std::string& gaps) override;
  void polled(const std::string& source, const Status& result, Duration took) override;
  void delivered(const DeliveryReport& report) override;
  void outbox_depth(const std::string& outbox, OutboxDelivery::Depth depth, Timestamp now) override;
  void mirrored(const std::string& receiver, const MirrorDelivery::Round& round) override;
  void heartbeat(const Status& result) override;
  void store_failed(const std::string& task, const Error& error) override;
  void reloaded(bool success, const std::vector<ConfigProblem>& problems,
                const std::string& message) override;

 private:
  // Logs a lasting condition when it starts, changes and ends. Empty `what`: it is over.
  void condition(const std::string& key, const std::string& event, const std::string& what,
                 const LogFields& fields);
  void source(const SourceReport& report);
  void problems_of(const SourceReport& report);

  Logger& log_;
  Metrics& metrics_;
  Clock& clock_;
  std::mutex mutex_;  // Guards repeats_: several threads report.
  RepeatLimiter repeats_;
  // Problems of each source at its last report: what is missing from the next one is over.
  std::map<std::string, std::map<std::string, Problem>> problems_;
};

}  // namespace outcomed
