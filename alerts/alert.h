// What is remembered about one alert, and what changed.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "detectors/verdict.h"

namespace outcomed {

// Stable identity: rule, severity and group labels only. Nothing that may change between ticks or
// releases (values, sources, process labels) is part of it.
struct AlertKey {
  std::string rule;
  std::string severity;
  Labels group;

  [[nodiscard]] std::uint64_t fingerprint() const;
  friend auto operator<=>(const AlertKey&, const AlertKey&) = default;
};

struct AlertKeyHash {
  std::size_t operator()(const AlertKey& key) const { return key.fingerprint(); }
};

enum class Phase : std::uint8_t { inactive, pending, firing };
std::string_view to_string(Phase phase);

// One row in the store. Times are ends of buckets; unset ones are the epoch.
struct AlertState {
  AlertKey key;
  Phase phase = Phase::inactive;
  Timestamp pending_at;     // End of the bucket that breached first in this run.
  Timestamp fired_at;       // When the current episode fired.
  Timestamp onset;          // As told by the detector when it breached first.
  Timestamp last_breach;    // Last bucket judged breached or lingering.
  Timestamp last_step;      // Last bucket heard of, judged or not.
  Timestamp healthy_since;  // First good bucket while firing; unset while bad.
  Duration unknown{};       // Of the time since pending_at, how much nobody could judge.
  Duration too_few{};       // Time with too few to judge since the last judgement.
  friend bool operator==(const AlertState&, const AlertState&) = default;
};

enum class Change : std::uint8_t { started, dropped, fired, resolved };
std::string_view to_string(Change change);

// Why a resolve is good news; every other reason is none.
inline constexpr std::string_view kRecovered = "recovered";

struct Transition {
  Change change = Change::started;
  Timestamp at;
  std::string reason;  // For `resolved` and `dropped`: "recovered", "too few requests to judge", …
  friend bool operator==(const Transition&, const Transition&) = default;
};

// One firing, from first breach to resolve; what a reviewer opens. k, n, measured, threshold, the
// sentence and the facts are those at the moment of firing.
struct Episode {
  std::string id;  // 16 hex digits of the alert's fingerprint, '-', fired_at in Unix seconds.
  AlertKey key;
  Labels labels;  // The rule's own labels (team, …), for routing and display.
  Timestamp onset;
  Timestamp pending_at;
  Timestamp fired_at;
  std::optional<Timestamp> resolved_at;
  std::string resolve_reason;
  std::int64_t k = 0;
  std::int64_t n = 0;
  double measured = 0;
  double threshold = 0;
  std::string sentence;
  std::vector<std::pair<std::string, std::string>> facts;
  std::string resolve_sentence;
  std::string config_hash;  // The configuration in force when it fired.
  friend bool operator==(const Episode&, const Episode&) = default;
};

std::string episode_id(const AlertKey& key, Timestamp fired_at);

}  // namespace outcomed
