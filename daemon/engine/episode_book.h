// From phase changes to episodes, and from the episodes of one tick to what people must be told.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "alerts/alert.h"
#include "alerts/message.h"
#include "daemon/engine/rule_runner.h"

namespace outcomed {

// News of one alert after a whole tick: what happened and was over within it is history, not news.
struct News {
  AlertStatus status = AlertStatus::firing;
  Episode episode;
};

class EpisodeBook {
 public:
  // The episodes that are firing, as stored.
  void restore(std::vector<Episode> open);

  void begin_tick();
  void apply(const RuleEvent& event, const Labels& rule_labels, const std::string& config_hash);
  // Ends an episode whose rule or group is gone.
  void close(const AlertKey& key, Timestamp at, std::string reason);

  // Episodes that began or changed in this tick, in order of time.
  [[nodiscard]] const std::vector<Episode>& changed() const { return changed_; }
  // Resolves before firings; of each alert at most one of each.
  [[nodiscard]] std::vector<News> news() const;
  [[nodiscard]] const std::map<AlertKey, Episode>& open() const { return open_; }

 private:
  void touch(const AlertKey& key);
  void note(const Episode& episode);

  std::map<AlertKey, Episode> open_;
  // Of the alerts that this tick touched: the id of the episode that was open when it began, or "".
  std::map<AlertKey, std::string> before_;
  std::vector<Episode> changed_;
  std::unordered_map<std::string, std::size_t> place_;  // In changed_, by id.
};

}  // namespace outcomed
