// A destination. Receivers send once; the outbox retries.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alerts/message.h"
#include "queries/base/http_client.h"

namespace outcomed {

struct SendResult {
  enum class Outcome : std::uint8_t {
    delivered,  // Accepted by the other side.
    retry,  // May work later: no connection, timeout, 5xx, 429, TLS (receivers fix certificates).
    rejected,  // Final for this message (other 4xx).
  };
  Outcome outcome = Outcome::retry;
  std::optional<Duration> retry_after;  // What the other side asked for, capped by the caller.
  std::string detail;                   // "HTTP 200", "connection refused": no URL, no secret.
  // The other side is well and only wants less (429): however long that lasts, it ends no row.
  bool throttled = false;
};

// Tells one message. Thread-safe; blocks at most for its own timeout.
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual SendResult send(const Message& message) = 0;
};

// One server that wants the whole present state again and again (Alertmanager): everything that
// fires, and what resolved a short while ago. Nothing is queued, so nothing can be lost: the state
// itself is stored, and each round repeats it. Each peer of a cluster is a mirror of its own.
class Mirror {
 public:
  virtual ~Mirror() = default;
  virtual SendResult push(const std::vector<AlertMessage>& state, Timestamp now) = 0;
  // For messages: which server this is; no path, no secret.
  [[nodiscard]] virtual std::string peer() const = 0;
  [[nodiscard]] virtual Duration resend_interval() const = 0;
};

}  // namespace outcomed
