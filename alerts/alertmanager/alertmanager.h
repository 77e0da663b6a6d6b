// Alertmanager, API v2: the whole present state to every peer, again and again.
#pragma once

#include <cstdint>
#include <memory>
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

// How often a mirror is pushed at least, whatever `resend_interval` says.
constexpr Duration kAlertmanagerTick = std::chrono::minutes(1);

// One peer of the cluster. Each is a mirror of its own, pushed by a thread of its own, so that one
// that hangs neither delays the others nor lets what they were told run out.
//
// Firing alerts get endsAt = now + 4 · max(tick, resend_interval), so a lost round or two resolve
// nothing; resolved ones keep their true end. Of several alerts with the same labels the firing one
// is sent, else the one that ended last: Alertmanager knows one alert for each label set.
//
// A batch that is refused (400, 413, 422) is halved until the bad alert stands alone and is named
// in the result; the others are stored. Bad ones go last in the next rounds. After a request that
// wasn't answered the rest of the round is left out.
//
// Not thread-safe: one thread calls push().
class AlertmanagerMirror final : public Mirror {
 public:
  // Of the peer `settings.urls[peer]`. `client` outlives the mirror. `tick`: how often push() is
  // called at least.
  AlertmanagerMirror(AlertmanagerSettings settings, std::size_t peer, HttpClient& client,
                     Duration tick);

  SendResult push(const std::vector<AlertMessage>& state, Timestamp now) override;
  [[nodiscard]] std::string peer() const override;
  [[nodiscard]] Duration resend_interval() const override { return settings_.resend_interval; }

 private:
  const AlertmanagerSettings settings_;
  const std::size_t peer_;
  const std::string endpoint_;
  HttpClient& client_;
  const Duration tick_;
  std::set<std::uint64_t> refused_;  // Fingerprints of alerts it refused in the last round.
};

// One mirror for each peer, in the order of the settings.
std::vector<std::shared_ptr<Mirror>> alertmanager_mirrors(const AlertmanagerSettings& settings,
                                                          HttpClient& client);

}  // namespace outcomed
