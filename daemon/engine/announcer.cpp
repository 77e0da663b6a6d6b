#include "daemon/engine/announcer.h"

#include <algorithm>

#include "alerts/render.h"

namespace outcomed {

Announcer::Announcer(Route root, std::vector<QueuedPart> queued,
                     std::map<std::string, Labels> annotations, std::string external_url)
    : root_(std::move(root)),
      queued_(std::move(queued)),
      annotations_(std::move(annotations)),
      external_url_(std::move(external_url)) {}

AlertMessage Announcer::message(const Episode& episode, AlertStatus status) const {
  const auto found = annotations_.find(episode.key.rule);
  const std::string url =
      external_url_.empty() ? std::string() : external_url_ + "/api/v1/episodes/" + episode.id;
  AlertMessage alert = render(episode, found == annotations_.end() ? Labels{} : found->second, url);
  alert.status = status;
  if (status == AlertStatus::firing) alert.ends_at.reset();
  return alert;
}

std::vector<OutboxRow> Announcer::rows(const News& news, Timestamp now) const {
  std::vector<OutboxRow> rows;
  const AlertMessage alert = message(news.episode, news.status);
  for (const RouteMatch& route : match(root_, routing_labels_of(alert.labels))) {
    for (const QueuedPart& part : queued_) {
      if (part.receiver != route.receiver) continue;
      OutboxRow row;
      row.receiver = part.outbox;
      row.key = news.episode.key;
      row.episode = news.episode.id;
      row.status = news.status;
      row.message = make_message(route, {alert}, external_url_);
      row.created_at = now;
      row.next_attempt = now;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

bool Announcer::routed_to(const AlertMessage& alert, const std::string& receiver) const {
  return std::ranges::any_of(match(root_, routing_labels_of(alert.labels)),
                             [&](const RouteMatch& route) { return route.receiver == receiver; });
}

}  // namespace outcomed
