#include "daemon/delivery/mirror_delivery.h"

namespace outcomed {

MirrorDelivery::MirrorDelivery(std::string receiver, Mirror& mirror, Store& store,
                               std::shared_ptr<const Announcer> announcer)
    : receiver_(std::move(receiver)),
      mirror_(mirror),
      store_(store),
      announcer_(std::move(announcer)) {}

Result<MirrorDelivery::Round> MirrorDelivery::round(Timestamp now) {
  auto episodes = store_.current_episodes(now - kResolvedFor);
  if (!episodes) return std::move(episodes).error();
  std::vector<AlertMessage> state;
  for (const Episode& episode : *episodes) {
    AlertMessage alert = announcer_->message(
        episode, episode.resolved_at ? AlertStatus::resolved : AlertStatus::firing);
    if (announcer_->routed_to(alert, receiver_)) state.push_back(std::move(alert));
  }
  Round round;
  round.alerts = state.size();
  round.peer = mirror_.peer();
  round.result = mirror_.push(state, now);
  return round;
}

}  // namespace outcomed
