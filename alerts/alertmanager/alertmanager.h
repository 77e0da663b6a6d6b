// Alertmanager, API v2: the whole present state to every peer, again and again.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "alerts/receiver.h"
#include "queries/base/http_client.h"
#include "queries/base/params.h"

namespace outcomed {

struct AlertmanagerSettings {
  std::vector<std::string> urls;  // Every peer of the cluster, path prefix included.
  HttpAccess access;
  Duration timeout = 10s;
  Duration resend_interval = std::chrono::minutes(1);
  std::int64_t batch = 64;  // Alerts in one request at most.

  void visit(ParamVisitor& visitor);
};

// Firing alerts get endsAt = now + 4 · max(tick, resend_interval), so a lost round or two resolve
// nothing; resolved ones keep their true end. Of several alerts with the same labels the firing one
// is sent, else the one that ended last: Alertmanager knows one alert for each label set.
//
// A batch that is refused (400, 413, 422) is halved until the bad alert stands alone and is named
// in the result; the others are stored. Bad ones go last in the next rounds. A peer that doesn't
// answer is left for this round at once, and asked last in the next one.
//
// Not thread-safe: one thread calls push().
class AlertmanagerMirror final : public Mirror {
 public:
  // `client` outlives the mirror. `tick`: how often push() is called at least.
  AlertmanagerMirror(AlertmanagerSettings settings, HttpClient& client, Duration tick);

  std::vector<SendResult> push(const std::vector<AlertMessage>& state, Timestamp now) override;
  [[nodiscard]] Duration resend_interval() const override { return settings_.resend_interval; }

 private:
  struct Peer {
    std::string endpoint;
    bool failed = false;              // In the last round.
    std::set<std::uint64_t> refused;  // Fingerprints of alerts it refused in the last round.
  };

  SendResult push_to(Peer& peer, std::vector<AlertMessage> alerts, Timestamp now);

  const AlertmanagerSettings settings_;
  HttpClient& client_;
  const Duration tick_;
  std::vector<Peer> peers_;
};

}  // namespace outcomed
