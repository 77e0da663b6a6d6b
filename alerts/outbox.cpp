#include "alerts/outbox.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace outcomed {
namespace {

using Outcome = SendResult::Outcome;

OutboxRow settle(OutboxRow row, OutboxState state, Timestamp now) {
  row.state = state;
  row.settled_at = now;
  return row;
}

// first · 2^(attempts − 1), at most `cap`.
Duration doubled_delay(int attempts, const RetryPolicy& policy) {
  Duration delay = policy.first;
  for (int i = 1; i < attempts && delay < policy.cap; ++i) delay *= 2;
  return std::min(delay, policy.cap);
}

Duration wait_after(int attempts, const SendResult& result, double jitter,
                    const RetryPolicy& policy) {
  const Duration delay = doubled_delay(attempts, policy);
  const Duration half = delay / 2;
  const double share = jitter >= 0 && jitter <= 1 ? jitter : 0;  // NaN is none of both.
  const auto spread =
      static_cast<std::int64_t>(share * static_cast<double>((delay - half).count()));
  const Duration wait = half + Duration(spread);
  const Duration asked = result.retry_after.value_or(Duration::zero());
  return std::max(wait, std::min(asked, policy.retry_after_cap));
}

}  // namespace

std::string_view to_string(OutboxState state) {
  switch (state) {
    case OutboxState::queued:
      return "queued";
    case OutboxState::delivered:
      return "delivered";
    case OutboxState::superseded:
      return "superseded";
    case OutboxState::dead:
      return "dead";
  }
  return "queued";
}

OutboxRow after_attempt(OutboxRow row, const SendResult& result, Timestamp now, double jitter,
                        const RetryPolicy& policy) {
  ++row.attempts;
  row.last_answer = result.detail;
  switch (result.outcome) {
    case Outcome::delivered:
      return settle(std::move(row), OutboxState::delivered, now);
    case Outcome::rejected:
      return settle(std::move(row), OutboxState::dead, now);
    case Outcome::retry:
      break;
  }
  if (!result.throttled && now - row.created_at > policy.give_up_after) {
    return settle(std::move(row), OutboxState::dead, now);
  }
  row.next_attempt = now + wait_after(row.attempts, result, jitter, policy);
  return row;
}

std::vector<std::int64_t> superseded(const std::vector<OutboxRow>& queued) {
  struct EpisodeRows {
    std::vector<std::int64_t> firings;
    std::vector<std::int64_t> resolves;  // Behind a firing.
    bool attempted = false;
  };
  // The episode is part of the key: a resolve ends only its own firing.
  std::map<std::tuple<std::string_view, AlertKey, std::string_view>, EpisodeRows> episodes;
  for (const OutboxRow& row : queued) {
    if (row.state != OutboxState::queued) continue;
    EpisodeRows& rows = episodes[{row.receiver, row.key, row.episode}];
    if (row.attempts > 0) rows.attempted = true;
    if (row.status == AlertStatus::firing) {
      rows.firings.push_back(row.id);
    } else if (!rows.firings.empty()) {
      rows.resolves.push_back(row.id);
    }
  }
  std::vector<std::int64_t> ids;
  for (const auto& [episode, rows] : episodes) {
    if (rows.attempted || rows.resolves.empty()) continue;
    ids.insert(ids.end(), rows.firings.begin(), rows.firings.end());
    ids.insert(ids.end(), rows.resolves.begin(), rows.resolves.end());
  }
  std::ranges::sort(ids);
  return ids;
}

std::vector<OutboxRow> due(const std::vector<OutboxRow>& queued, Timestamp now) {
  std::set<std::pair<std::string, AlertKey>> seen;
  std::vector<OutboxRow> rows;
  for (const OutboxRow& row : queued) {
    if (row.state != OutboxState::queued) continue;
    // Whether it is due or not, the first one holds back those behind it.
    const bool first = seen.emplace(row.receiver, row.key).second;
    if (first && row.next_attempt <= now) rows.push_back(row);
  }
  return rows;
}

}  // namespace outcomed
