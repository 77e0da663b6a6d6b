#include "alerts/alert.h"

#include <fmt/core.h>

namespace outcomed {

std::uint64_t AlertKey::fingerprint() const {
  Labels all;
  for (const auto& [name, value] : group.pairs()) all.set("group " + name, value);
  all.set("rule", rule);
  all.set("severity", severity);
  return all.fingerprint();
}

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::inactive:
      return "inactive";
    case Phase::pending:
      return "pending";
    case Phase::firing:
      return "firing";
  }
  return "inactive";
}

std::string_view to_string(Change change) {
  switch (change) {
    case Change::started:
      return "started";
    case Change::dropped:
      return "dropped";
    case Change::fired:
      return "fired";
    case Change::resolved:
      return "resolved";
  }
  return "started";
}

std::string episode_id(const AlertKey& key, Timestamp fired_at) {
  return fmt::format("{:016x}-{}", key.fingerprint(), unix_ms(fired_at) / 1000);
}

}  // namespace outcomed
