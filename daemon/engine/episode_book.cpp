#include "daemon/engine/episode_book.h"

#include <algorithm>
#include <utility>

namespace outcomed {

void EpisodeBook::restore(std::vector<Episode> open) {
  for (Episode& episode : open) open_[episode.key] = std::move(episode);
}

void EpisodeBook::begin_tick() {
  open_before_ = open_;
  changed_.clear();
}

void EpisodeBook::note(const Episode& episode) {
  const auto known = std::ranges::find(changed_, episode.id, &Episode::id);
  if (known == changed_.end()) {
    changed_.push_back(episode);
  } else {
    *known = episode;
  }
}

void EpisodeBook::apply(const RuleEvent& event, const Labels& rule_labels,
                        const std::string& config_hash) {
  const AlertKey& key = event.state.key;
  if (event.transition.change == Change::resolved) {
    const auto found = open_.find(key);
    if (found == open_.end()) return;
    Episode& episode = found->second;
    episode.resolved_at = event.transition.at;
    episode.resolve_reason = event.transition.reason;
    if (event.verdict) episode.resolve_sentence = event.verdict->sentence;
    note(episode);
    open_.erase(found);
    return;
  }
  if (event.transition.change != Change::fired) return;
  Episode episode;
  episode.id = episode_id(key, event.transition.at);
  episode.key = key;
  episode.labels = rule_labels;
  episode.onset = event.state.onset;
  episode.pending_at = event.state.pending_at;
  episode.fired_at = event.transition.at;
  episode.config_hash = config_hash;
  if (event.verdict) {
    episode.k = event.verdict->k;
    episode.n = event.verdict->n;
    episode.measured = event.verdict->measured;
    episode.threshold = event.verdict->threshold;
    episode.sentence = event.verdict->sentence;
    episode.facts = event.verdict->facts;
  }
  note(episode);
  open_[key] = std::move(episode);
}

void EpisodeBook::close(const AlertKey& key, Timestamp at, std::string reason) {
  const auto found = open_.find(key);
  if (found == open_.end()) return;
  found->second.resolved_at = at;
  found->second.resolve_reason = std::move(reason);
  note(found->second);
  open_.erase(found);
}

std::vector<News> EpisodeBook::news() const {
  std::vector<News> news;
  for (const auto& [key, before] : open_before_) {
    const auto now = open_.find(key);
    if (now != open_.end() && now->second.id == before.id) continue;
    const auto ended = std::ranges::find(changed_, before.id, &Episode::id);
    if (ended != changed_.end()) news.push_back({AlertStatus::resolved, *ended});
  }
  for (const auto& [key, now] : open_) {
    const auto before = open_before_.find(key);
    if (before == open_before_.end() || before->second.id != now.id) {
      news.push_back({AlertStatus::firing, now});
    }
  }
  return news;
}

}  // namespace outcomed
