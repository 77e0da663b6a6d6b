#include "detectors/scores/fold.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace outcomed {
namespace {

// More than that in one bucket is no count of items.
constexpr std::int64_t kMostItems = 1'000'000'000'000;

}  // namespace

ScoresFold::ScoresFold(const ScoresDetector& detector, Labels group)
    : detector_(&detector), group_(std::move(group)), days_(detector.zone()), rule_(detector) {}

void ScoresFold::add_member(const Labels& member) {
  members_.emplace_back(member.get(detector_->params().score_label));
  const std::optional<double> score = parse_score(members_.back());
  if (!score) {
    score_of_.push_back(kNoScore);
    return;
  }
  auto found = places_.find(*score);
  if (found == places_.end() && scores_.size() < kMostScores) {
    found = places_.emplace(*score, scores_.size()).first;
    scores_.push_back(*score + 0.0);  // Not -0.
    open_.push_back(0);
  } else if (found == places_.end()) {
    const auto after = places_.lower_bound(*score);
    found = after == places_.end() ? std::prev(after) : after;
    if (after != places_.begin() && after != places_.end() &&
        *score - std::prev(after)->first <= after->first - *score) {
      found = std::prev(after);
    }
  }
  score_of_.push_back(found->second);
}

// False, and nothing is added, where the numbers can't be true.
bool ScoresFold::add_counts(const BucketRun& run, std::size_t step) {
  const std::size_t known = std::min(score_of_.size(), run.members.size());
  for (std::size_t i = 0; i < known; ++i) {
    const std::int64_t n = run.members[i].n[step];
    if (n < 0 || n > kMostItems) return false;
  }
  for (std::size_t i = 0; i < known; ++i) {
    const std::size_t place = score_of_[i];
    (place == kNoScore ? open_without_score_ : open_[place]) += run.members[i].n[step];
  }
  return true;
}

void ScoresFold::advance(const BucketRun& run, std::size_t step) {
  const Bucket bucket = run[step];
  if (!days_.accepts(bucket)) return;
  if (days_.begins_another(bucket)) close_day();
  const bool sane = bucket.coverage != Coverage::complete || add_counts(run, step);
  if (days_.take(bucket, sane)) close_day();
}

void ScoresFold::close_day() {
  closed_ = days_.day();
  any_closed_ = true;
  seen_ = days_.seen();
  ScoreDay today;
  today.day = closed_;
  for (const auto& [score, place] : places_) {
    if (open_[place] == 0) continue;
    today.counts.emplace_back(scores_[place], open_[place]);
    today.n += open_[place];
  }
  n_ = today.n;
  without_score_ = std::exchange(open_without_score_, 0);
  std::ranges::fill(open_, 0);
  const std::optional<Judgement> unseen = days_.unseen();
  days_.close();
  judged_ = !unseen && n_ >= detector_->days().min_items;
  if (!judged_) {
    judgement_ = unseen.value_or(Judgement::too_few);
    return;
  }
  finding_ = rule_.judge(std::move(today));
  judgement_ = judgement_of(finding_.outcome, finding_.established);
}

Timestamp ScoresFold::onset() const {
  return days_.begin_of(finding_.since_days > 0 ? finding_.onset : days_.day());
}

bool ScoresFold::idle() const {
  return rule_.fresh() && open_without_score_ == 0 &&
         std::ranges::all_of(open_, [](std::int64_t count) { return count == 0; });
}

void ScoresFold::save(Writer& writer) const {
  writer.u64(members_.size());
  for (const std::string& member : members_) writer.text(member);
  days_.save(writer);
  for (const std::int64_t count : open_) writer.i64(count);
  writer.i64(open_without_score_);
  rule_.save(writer);
  writer.u64(static_cast<std::uint64_t>(judgement_));
  writer.i64(closed_);
  writer.u64(any_closed_ ? 1 : 0);
  writer.u64(judged_ ? 1 : 0);
  writer.f64(seen_);
  writer.i64(n_);
  writer.i64(without_score_);
  finding_.save(writer);
}

bool ScoresFold::load(Reader& reader) {
  members_.clear();
  score_of_.clear();
  scores_.clear();
  places_.clear();
  open_.clear();
  for (std::uint64_t left = reader.u64(); left > 0 && reader.ok(); --left) {
    add_member({{detector_->params().score_label, reader.text()}});
  }
  if (!days_.load(reader)) return false;
  for (std::int64_t& count : open_) count = reader.i64();
  open_without_score_ = reader.i64();
  if (!rule_.load(reader)) return false;
  judgement_ = static_cast<Judgement>(std::min<std::uint64_t>(reader.u64(), 6));
  closed_ = reader.i64();
  any_closed_ = reader.u64() != 0;
  judged_ = reader.u64() != 0;
  seen_ = reader.f64();
  n_ = reader.i64();
  without_score_ = reader.i64();
  return finding_.load(reader) && reader.ok();
}

}  // namespace outcomed
