#include "daemon/runtime/deliveries.h"

#include <algorithm>

namespace outcomed {
namespace {

// Looks again at least this often, so that a missed wake-up or a wall-clock jump can't park news.
constexpr Duration kLongestWait = std::chrono::seconds(30);
constexpr Duration kAfterFailure = std::chrono::seconds(5);

}  // namespace

Deliveries::Deliveries(const Assembly& assembly, Store& store, Clock& clock,
                       std::function<double()> jitter, Observer& observer)
    : clock_(clock), observer_(observer) {
  const OutboxDelivery::Hooks hooks{
      [&clock] { return clock.now(); }, std::move(jitter),
      [&observer](const DeliveryReport& report) { observer.delivered(report); }};
  for (const QueuedReceiver& queued : assembly.queued) {
    auto queue = std::make_unique<Queue>();
    queue->name = queued.outbox;
    queue->receiver = queued.receiver;
    queue->delivery = std::make_unique<OutboxDelivery>(queued.outbox, *queue->receiver, store,
                                                       RetryPolicy{}, hooks);
    queues_.push_back(std::move(queue));
  }
  for (const MirroredReceiver& receiver : assembly.mirrors) {
    auto mirrored = std::make_unique<Mirrored>();
    mirrored->mirror = receiver.mirror;
    mirrored->delivery = std::make_unique<MirrorDelivery>(receiver.receiver, *mirrored->mirror,
                                                          store, assembly.announcer);
    mirrors_.push_back(std::move(mirrored));
  }
}

Deliveries::~Deliveries() { stop(); }

void Deliveries::start() {
  for (auto& queue : queues_) {
    threads_.emplace_back([this, &queue](const std::stop_token& stop) { drain(*queue, stop); });
  }
  for (auto& mirrored : mirrors_) {
    threads_.emplace_back(
        [this, &mirrored](const std::stop_token& stop) { mirror(*mirrored, stop); });
  }
}

void Deliveries::wake() {
  for (auto& queue : queues_) queue->wakeup.wake();
  for (auto& mirrored : mirrors_) mirrored->wakeup.wake();
}

void Deliveries::stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();  // Joins.
}

void Deliveries::drain(Queue& queue, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto next = queue.delivery->round();
    Duration wait = kLongestWait;
    if (!next) {
      observer_.store_failed("outbox of " + queue.name, next.error());
      wait = kAfterFailure;
    } else {
      const Timestamp now = clock_.now();
      observer_.outbox_depth(queue.name, queue.delivery->depth(), now);
      queue.all_told = has_told_all(queue);
      if (*next) wait = std::clamp(**next - now, Duration(10), kLongestWait);
    }
    queue.wakeup.wait_for(wait, stop);
  }
}

bool Deliveries::has_told_all(const Queue& queue) {
  return queue.delivery->depth().rows == 0 && !queue.delivery->losing();
}

std::optional<SendResult> Deliveries::mirror_round(Mirrored& mirrored) {
  auto round = mirrored.delivery->round(clock_.now());
  if (!round) {
    observer_.store_failed("episodes for " + mirrored.delivery->receiver(), round.error());
    return std::nullopt;
  }
  observer_.mirrored(mirrored.delivery->receiver(), *round);
  return std::move(round->result);
}

void Deliveries::mirror(Mirrored& mirrored, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto result = mirror_round(mirrored);
    const bool fine = result && result->outcome == SendResult::Outcome::delivered;
    if (result) mirrored.all_told = fine;
    // A peer that missed a round hears it again soon, not a whole interval later.
    const Duration interval = mirrored.delivery->resend_interval();
    mirrored.wakeup.wait_for(fine ? interval : std::min(interval, kAfterFailure), stop);
  }
}

bool Deliveries::all_told() const {
  return std::ranges::all_of(queues_, [](const auto& queue) { return queue->all_told.load(); }) &&
         std::ranges::all_of(mirrors_, [](const auto& one) { return one->all_told.load(); });
}

bool Deliveries::run_once() {
  bool all = true;
  for (auto& queue : queues_) {
    const auto next = queue->delivery->round();
    if (!next) observer_.store_failed("outbox of " + queue->name, next.error());
    if (next) queue->all_told = has_told_all(*queue);
    all &= next && queue->all_told;
  }
  std::atomic<bool> mirrored_all = true;
  std::vector<std::jthread> rounds;
  for (auto& mirrored : mirrors_) {
    rounds.emplace_back([this, &mirrored, &mirrored_all] {
      const auto result = mirror_round(*mirrored);
      if (!result || result->outcome != SendResult::Outcome::delivered) mirrored_all = false;
    });
  }
  rounds.clear();  // Joins.
  return all && mirrored_all;
}

}  // namespace outcomed
