// Notifications waiting to be told, and the rules for trying again. Rows live in the store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alerts/receiver.h"

namespace outcomed {

enum class OutboxState : std::uint8_t { queued, delivered, superseded, dead };
std::string_view to_string(OutboxState state);

// One alert's news for one receiver. News of one alert go out strictly in the order of `id`.
struct OutboxRow {
  std::int64_t id = 0;  // Given by the store, ascending.
  std::string receiver;
  AlertKey key;
  std::string episode;
  AlertStatus status = AlertStatus::firing;
  Message message;
  OutboxState state = OutboxState::queued;
  Timestamp created_at;
  Timestamp next_attempt;
  int attempts = 0;
  Timestamp settled_at;
  std::string last_answer;
};

struct RetryPolicy {
  Duration first = 1s;
  Duration cap = std::chrono::minutes(5);
  Duration give_up_after =
      std::chrono::hours(24 * 3);  // Then the row is dead and a person is told.
  Duration retry_after_cap = std::chrono::hours(1);
};

// The row after one attempt. `jitter` in [0, 1) is drawn by the caller: the wait is between half
// and the whole of the doubled delay. Retry-After wins when it is longer. Throttling never kills a
// row; a rejection does at once; everything else when it is older than give_up_after.
OutboxRow after_attempt(OutboxRow row, const SendResult& result, Timestamp now, double jitter,
                        const RetryPolicy& policy);

// Given all queued rows (ascending id), the ids to supersede: a firing that was never attempted and
// whose resolve is queued behind it goes away together with that resolve; nobody was told, so
// nobody must be told. Attempted firings stay: they may have been heard.
std::vector<std::int64_t> superseded(const std::vector<OutboxRow>& queued);

// The rows that may be sent now: due, and the first queued row of their (receiver, alert).
std::vector<OutboxRow> due(const std::vector<OutboxRow>& queued, Timestamp now);

}  // namespace outcomed
