#include "daemon/delivery/outbox_delivery.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "alerts/render.h"

namespace outcomed {
namespace {

// Alerts in one message; larger groups go in several.
constexpr std::size_t kMaxBatch = 200;

Message combined(const std::vector<OutboxRow>& rows) {
  Message message = rows.front().message;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    for (const AlertMessage& alert : rows[i].message.alerts) message.alerts.push_back(alert);
  }
  message.idempotency_key = idempotency_key(message);
  return message;
}

std::optional<Timestamp> next_attempt(const std::vector<OutboxRow>& queued) {
  if (queued.empty()) return std::nullopt;
  return std::ranges::min_element(queued, {}, &OutboxRow::next_attempt)->next_attempt;
}

}  // namespace

std::vector<std::vector<OutboxRow>> batches(std::vector<OutboxRow> due_rows) {
  using Key = std::tuple<std::string, int, Timestamp>;
  std::vector<std::vector<OutboxRow>> result;
  std::map<Key, std::size_t> open;
  for (OutboxRow& row : due_rows) {
    const Timestamp together = row.attempts == 0 ? Timestamp{} : row.next_attempt;
    const Key key{row.message.group_key, row.attempts, together};
    const auto found = open.find(key);
    if (found != open.end() && result[found->second].size() < kMaxBatch) {
      result[found->second].push_back(std::move(row));
      continue;
    }
    open[key] = result.size();
    result.push_back({});
    result.back().push_back(std::move(row));
  }
  return result;
}

OutboxDelivery::OutboxDelivery(std::string outbox, Receiver& receiver, Store& store,
                               RetryPolicy policy, Hooks hooks)
    : outbox_(std::move(outbox)),
      receiver_(receiver),
      store_(store),
      policy_(policy),
      hooks_(std::move(hooks)) {}

Status OutboxDelivery::send(std::vector<OutboxRow> rows) {
  const double jitter = hooks_.jitter();
  const Timestamp before = hooks_.now();
  // The attempt is on record before it is made: as if it had failed.
  std::vector<OutboxRow> claimed;
  for (const OutboxRow& row : rows) {
    SendResult unknown;
    unknown.detail = "attempt begun";
    claimed.push_back(after_attempt(row, unknown, before, jitter, policy_));
    if (claimed.back().state == OutboxState::dead) claimed.back().state = OutboxState::queued;
  }
  if (Status status = store_.settle(claimed); !status) return status;
  const Message message = combined(rows);
  SendResult result = receiver_.send(message);
  const Timestamp after = hooks_.now();
  DeliveryReport report;
  report.receiver = outbox_;
  report.outcome = result.outcome;
  report.detail = result.detail;
  report.alerts = rows.size();
  report.attempts = rows.front().attempts + 1;
  report.took = after - before;
  if (rows.size() > 1) {  // The key that the other side saw is none of the rows' own.
    result.detail +=
        fmt::format(" (told together with {} other{}, idempotency key {})", rows.size() - 1,
                    rows.size() == 2 ? "" : "s", message.idempotency_key);
  }
  // Together, so that after a crash the same rows go out again under the same key, or none.
  std::vector<OutboxRow> settled;
  for (const OutboxRow& row : rows) {
    settled.push_back(after_attempt(row, result, after, jitter, policy_));
  }
  if (Status status = store_.settle(settled); !status) return status;
  note(settled, report);
  hooks_.report(report);
  return ok();
}

// What became of the rows of a message.
void OutboxDelivery::note(const std::vector<OutboxRow>& settled, DeliveryReport& report) {
  for (const OutboxRow& row : settled) {
    if (row.state == OutboxState::queued) continue;
    --depth_.rows;
    losing_ = row.state == OutboxState::dead;
    if (!losing_) continue;
    const auto& alerts = row.message.alerts;
    report.dead.push_back(
        {row.episode, alerts.empty() ? "" : alerts.front().labels.to_string(), row.status});
  }
  report.waiting = depth_.rows;
}

Status OutboxDelivery::drop(OutboxRow& row, std::string why) {
  row.state = OutboxState::superseded;
  row.settled_at = hooks_.now();
  row.last_answer = std::move(why);
  return store_.settle({row});
}

// A resolve whose firing was given up: the other side never heard of the alert.
Result<bool> OutboxDelivery::never_told(const OutboxRow& resolve) {
  auto rows = store_.deliveries(resolve.episode);
  if (!rows) return std::move(rows).error();
  bool given_up = false;
  for (const OutboxRow& row : *rows) {
    if (row.receiver != outbox_ || row.status != AlertStatus::firing) continue;
    if (row.state == OutboxState::delivered || row.state == OutboxState::queued) return false;
    given_up = true;
  }
  return given_up;
}

Status OutboxDelivery::drop_what_nobody_needs(std::vector<OutboxRow>& queued) {
  const std::vector<std::int64_t> over = superseded(queued);
  for (OutboxRow& row : queued) {
    if (std::ranges::find(over, row.id) != over.end()) {
      if (Status status = drop(row, "over before anybody was told"); !status) return status;
    } else if (row.status == AlertStatus::resolved && row.attempts == 0) {
      const auto unheard = never_told(row);
      if (!unheard) return unheard.error();
      if (!*unheard) continue;
      if (Status status = drop(row, "its firing was never delivered"); !status) return status;
    }
  }
  std::erase_if(queued, [](const OutboxRow& row) { return row.state != OutboxState::queued; });
  return ok();
}

Result<std::optional<Timestamp>> OutboxDelivery::round() {
  while (true) {
    auto queued = store_.queued(outbox_);
    if (!queued) return std::move(queued).error();
    if (const Status status = drop_what_nobody_needs(*queued); !status) return status.error();
    // Further ahead than any wait of ours: the clock was set back since.
    const Timestamp latest = hooks_.now() + policy_.retry_after_cap;
    for (OutboxRow& row : *queued) {
      row.next_attempt = std::min(row.next_attempt, latest);
    }
    depth_ = {queued->size(),
              queued->empty() ? std::nullopt : std::optional(queued->front().created_at)};
    std::vector<OutboxRow> ready = due(*queued, hooks_.now());
    if (ready.empty()) return next_attempt(*queued);
    for (std::vector<OutboxRow>& batch : batches(std::move(ready))) {
      if (const Status status = send(std::move(batch)); !status) return status.error();
    }
  }
}

}  // namespace outcomed
