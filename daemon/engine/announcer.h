// Who is told what: from an episode to its message and the rows of the outbox.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "alerts/outbox.h"
#include "alerts/routing.h"
#include "daemon/engine/episode_book.h"

namespace outcomed {

// A part of a receiver that keeps its messages in the outbox. `receiver` is the name that routes
// use; `outbox` the name of its queue.
struct QueuedPart {
  std::string receiver;
  std::string outbox;
};

class Announcer {
 public:
  // `annotations` by rule. `external_url` without a slash at its end, or empty.
  Announcer(Route root, std::vector<QueuedPart> queued, std::map<std::string, Labels> annotations,
            std::string external_url);

  [[nodiscard]] AlertMessage message(const Episode& episode, AlertStatus status) const;
  // One row for each route that leads to a queue.
  [[nodiscard]] std::vector<OutboxRow> rows(const News& news, Timestamp now) const;
  [[nodiscard]] bool routed_to(const AlertMessage& alert, const std::string& receiver) const;

 private:
  Route root_;
  std::vector<QueuedPart> queued_;
  std::map<std::string, Labels> annotations_;
  std::string external_url_;
};

}  // namespace outcomed
