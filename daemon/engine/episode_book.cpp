#include "daemon/engine/episode_book.h"

#include <iterator>
#include <string_view>
#include <utility>

namespace outcomed {

void EpisodeBook::restore(std::vector<Episode> open) {
  for (Episode& episode : open) open_[episode.key] = std::move(episode);
}

void EpisodeBook::begin_tick() {
  before_.clear();
  changed_.clear();
  place_.clear();
}

void EpisodeBook::touch(const AlertKey& key) {
  const auto open = open_.find(key);
  before_.try_emplace(key, open == open_.end() ? "" : open->second.id);
}

void EpisodeBook::note(const Episode& episode) {
  const auto [known, is_new] = place_.try_emplace(episode.id, changed_.size());
  if (is_new) {
    changed_.push_back(episode);
  } else {
    changed_[known->second] = episode;
  }
}

void EpisodeBook::apply(const RuleEvent& event, const Labels& rule_labels,
                        const std::string& config_hash) {
  const AlertKey& key = event.state.key;
  if (event.transition.change == Change::resolved) {
    const auto found = open_.find(key);
    if (found == open_.end()) return;
    touch(key);
    Episode& episode = found->second;
    episode.resolved_at = event.transition.at;
    episode.resolve_reason = event.transition.reason;
    if (event.verdict) episode.resolve_sentence = event.verdict->sentence;
    note(episode);
    open_.erase(found);
    return;
  }
  if (event.transition.change != Change::fired) return;
  touch(key);
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
  touch(key);
  found->second.resolved_at = at;
  found->second.resolve_reason = std::move(reason);
  note(found->second);
  open_.erase(found);
}

std::vector<News> EpisodeBook::news() const {
  std::vector<News> ended;
  std::vector<News> begun;
  for (const auto& [key, before] : before_) {
    const auto now = open_.find(key);
    const std::string_view id = now == open_.end() ? std::string_view() : now->second.id;
    if (id == before) continue;
    const auto place = place_.find(before);
    if (place != place_.end()) ended.push_back({AlertStatus::resolved, changed_[place->second]});
    if (!id.empty()) begun.push_back({AlertStatus::firing, now->second});
  }
  ended.insert(ended.end(), std::make_move_iterator(begun.begin()),
               std::make_move_iterator(begun.end()));
  return ended;
}

}  // namespace outcomed
