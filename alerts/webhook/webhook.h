// Generic webhook: Alertmanager's payload, version "4", optionally signed.
#pragma once

#include <functional>
#include <string>

#include "alerts/receiver.h"
#include "queries/base/http_client.h"
#include "queries/base/params.h"

namespace outcomed {

struct WebhookSettings {
  std::string url;
  HttpAccess access;
  SecretRef hmac_secret;
  Duration timeout = 10s;
  std::int64_t max_alerts = 0;  // 0: no limit.
  bool send_resolved = true;

  void visit(ParamVisitor& visitor);
};

// POST with `Content-Type: application/json` and `Idempotency-Key` (the same for every attempt).
// With hmac_secret also `X-Outcomed-Timestamp` (Unix seconds) and `X-Outcomed-Signature`, the hex
// HMAC-SHA256 of "timestamp:body"; without a readable secret nothing is sent.
class WebhookReceiver final : public Receiver {
 public:
  // `client`, `secrets` and what `now` refers to outlive the receiver; `now` may be called from
  // several threads.
  WebhookReceiver(WebhookSettings settings, HttpClient& client, SecretReader& secrets,
                  std::function<Timestamp()> now);

  SendResult send(const Message& message) override;

 private:
  Status sign(HttpRequest& request);

  const WebhookSettings settings_;
  HttpClient& client_;
  SecretReader& secrets_;
  const std::function<Timestamp()> now_;
};

}  // namespace outcomed
