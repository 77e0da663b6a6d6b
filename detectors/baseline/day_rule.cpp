#include "detectors/baseline/day_rule.h"

#include <algorithm>
#include <cmath>

namespace outcomed {
namespace {

constexpr double kChance = 1.0 / 1000;  // Of one normal day to be called halved.

DayCount turned(const DayCount& count) { return {count.day, count.n, count.n - count.k}; }

double log_of_mean(double a, double b) {
  const double top = std::max(a, b);
  if (top == -INFINITY) return top;
  return top + std::log((std::exp(a - top) + std::exp(b - top)) / 2);
}

}  // namespace

DayRule::DayRule(const BaselineDetector& detector)
    : detector_(&detector),
      watches_{LevelWatch(LevelWatch::Against::shares), LevelWatch(LevelWatch::Against::shares)} {}

// The normal is what was before this day: before the days that the evidence runs through, but not
// so long before that it is out of date.
std::int64_t DayRule::frozen(const LevelWatch& watch, std::int64_t today) const {
  if (episode_.on()) return episode_.frozen();
  if (watch.running_since() == LevelWatch::kNever) return today;
  return std::max(watch.running_since(), today - detector_->days().frozen_days());
}

void DayRule::select(std::int64_t before, std::int64_t days, Direction direction) {
  chosen_.clear();
  const std::int64_t end = before - skipped_;
  for (const Past& past : days_) {
    if (past.member != member_ || past.count.day >= end || past.count.day < end - days) continue;
    chosen_.push_back(direction == Direction::falls ? past.count : turned(past.count));
  }
}

// Of the shares of the chosen days.
double DayRule::median() {
  shares_.clear();
  for (const DayCount& count : chosen_) shares_.push_back(double(count.k) / double(count.n));
  std::ranges::sort(shares_);
  const std::size_t half = shares_.size() / 2;
  return shares_.size() % 2 == 1 ? shares_[half] : (shares_[half - 1] + shares_[half]) / 2;
}

void DayRule::weigh(const DayCount& today, DayFinding& finding) {
  const BaselineParams& params = detector_->params();
  const auto n = static_cast<double>(today.n);
  const auto k = static_cast<double>(today.k);
  for (const Direction direction : {Direction::falls, Direction::rises}) {
    const auto side = static_cast<std::size_t>(direction);
    const bool falls = direction == Direction::falls;
    const DayCount counted = falls ? today : turned(today);
    select(frozen(watches_[side], today.day), params.days.normal_days(), direction);
    const std::optional<NormalLevel> level = normal_level(chosen_);
    if (!level) continue;
    finding.levels[side] = *level;
    if (falls ? !detector_->watches_falls() : !detector_->watches_rises()) continue;
    // Counts are compared, not rounded ratios.
    if (falls) {
      finding.beyond[side] = params.falls_to && k < *params.falls_to * finding.median * n - 1e-9;
    } else if (const auto line = detector_->rises_to()) {
      finding.beyond[side] = k > *line * finding.median * n + 1e-9;
    }
    if (finding.beyond[side]) {
      finding.chance[side] = chance_of_at_most(*level, counted.n, counted.k);
      finding.halved |= finding.chance[side] < kChance;
    }
    watches_[side].take(*level, counted);
  }
}

void DayRule::measure_since(const DayCount& today, DayFinding& finding) const {
  finding.since_days = 1;
  finding.since_n = today.n;
  finding.since_k = today.k;
  for (const Past& past : days_) {
    if (past.member != member_ || past.count.day + skipped_ < finding.onset) continue;
    ++finding.since_days;
    finding.since_n += past.count.n;
    finding.since_k += past.count.k;
  }
}

void DayRule::restart() {
  for (LevelWatch& watch : watches_) watch.reset();
  episode_.end();
}

void DayRule::follow_episode(const DayCount& today, DayFinding& finding) {
  const LevelWatch& falls = watches_[0];
  const LevelWatch& rises = watches_[1];
  if (!detector_->watches_rises()) {
    finding.evidence = falls.evidence();
  } else if (!detector_->watches_falls()) {
    finding.evidence = rises.evidence();
  } else {
    finding.evidence = log_of_mean(falls.evidence(), rises.evidence());
  }
  finding.evident = finding.evidence >= std::log(detector_->days().budget());
  if (!episode_.on()) {
    const bool by_evidence = rises.evidence() > falls.evidence();
    const bool by_line = finding.chance[1] < finding.chance[0];
    direction_ = (finding.halved ? by_line : by_evidence) ? Direction::rises : Direction::falls;
  }
  finding.direction = direction_;
  const LevelWatch& watch = watches_[static_cast<std::size_t>(direction_)];
  const bool runs = watch.running_since() != LevelWatch::kNever;
  finding.onset = runs ? std::max(watch.onset(), frozen(watch, today.day)) : today.day;
  finding.outcome =
      episode_.take({today.day, finding.halved || finding.evident, finding.evidence, watch.today(),
                     finding.onset, std::min(finding.onset, frozen(watch, today.day))},
                    detector_->days().accept_days());
  if (episode_.on()) finding.onset = episode_.onset();
  measure_since(today, finding);
  if (finding.outcome == DayEpisode::Outcome::recovered) {
    const std::int64_t from = episode_.frozen();
    std::erase_if(days_, [&](const Past& past) { return past.count.day + skipped_ >= from; });
    skipped_ += today.day - from;
    restart();
  } else if (finding.outcome == DayEpisode::Outcome::accepted) {
    const std::int64_t from = episode_.onset();
    std::erase_if(days_, [&](const Past& past) { return past.count.day + skipped_ < from; });
    restart();
  }
}

void DayRule::remember(const DayCount& today) {
  const std::int64_t day = today.day - skipped_;
  const std::int64_t newest = episode_.on() ? std::min(day, episode_.frozen() - skipped_) : day;
  const std::int64_t oldest =
      std::min(day - detector_->days().kept_days(), newest - detector_->days().normal_days());
  std::erase_if(days_, [&](const Past& past) { return past.count.day < oldest; });
  days_.push_back({{day, today.n, today.k}, member_});
}

DayFinding DayRule::judge(const DayCount& today, std::uint32_t member) {
  DayFinding finding;
  const bool changed = !days_.empty() && member != member_;
  const bool cut_short = changed && episode_.on();
  if (changed) restart();
  member_ = member;
  const auto least = static_cast<std::size_t>(detector_->days().least_days());
  // The two directions may be frozen at different days; people are shown the earlier one's.
  const std::int64_t before =
      std::min(frozen(watches_[0], today.day), frozen(watches_[1], today.day));
  select(before, detector_->days().baseline_days, Direction::falls);
  finding.days = static_cast<std::int64_t>(chosen_.size());
  finding.established = chosen_.size() >= least;
  finding.onset = today.day;
  if (finding.established) {
    finding.median = median();
    weigh(today, finding);
    follow_episode(today, finding);
  } else if (cut_short) {
    finding.outcome = DayEpisode::Outcome::recovered;
  }
  remember(today);
  return finding;
}

void DayFinding::save(Writer& writer) const {
  writer.u64(established ? 1 : 0);
  writer.i64(days);
  writer.f64(median);
  for (std::size_t side = 0; side < 2; ++side) {
    writer.f64(levels[side].share);
    writer.f64(levels[side].rho);
    writer.f64(levels[side].high_rho);
    writer.f64(levels[side].variance);
    writer.f64(levels[side].n);
    writer.f64(levels[side].k);
    writer.i64(levels[side].days);
    writer.u64(beyond[side] ? 1 : 0);
    writer.f64(chance[side]);
  }
  writer.u64(halved ? 1 : 0);
  writer.u64(evident ? 1 : 0);
  writer.f64(evidence);
  writer.u64(static_cast<std::uint64_t>(direction));
  writer.u64(static_cast<std::uint64_t>(outcome));
  for (const std::int64_t value : {onset, since_days, since_n, since_k}) writer.i64(value);
}

bool DayFinding::load(Reader& reader) {
  established = reader.u64() != 0;
  days = reader.i64();
  median = reader.f64();
  for (std::size_t side = 0; side < 2; ++side) {
    levels[side].share = reader.f64();
    levels[side].rho = reader.f64();
    levels[side].high_rho = reader.f64();
    levels[side].variance = reader.f64();
    levels[side].n = reader.f64();
    levels[side].k = reader.f64();
    levels[side].days = reader.i64();
    beyond[side] = reader.u64() != 0;
    chance[side] = reader.f64();
  }
  halved = reader.u64() != 0;
  evident = reader.u64() != 0;
  evidence = reader.f64();
  direction = static_cast<Direction>(std::min<std::uint64_t>(reader.u64(), 1));
  outcome = static_cast<DayEpisode::Outcome>(std::min<std::uint64_t>(reader.u64(), 4));
  for (std::int64_t* value : {&onset, &since_days, &since_n, &since_k}) *value = reader.i64();
  return reader.ok();
}

void DayRule::save(Writer& writer) const {
  writer.u64(days_.size());
  std::int64_t last = 0;
  for (const Past& past : days_) {
    writer.i64(past.count.day - last);
    last = past.count.day;
    writer.i64(past.count.n);
    writer.i64(past.count.k);
    writer.u64(past.member);
  }
  writer.i64(skipped_);
  writer.u64(member_);
  for (const LevelWatch& watch : watches_) watch.save(writer);
  episode_.save(writer);
  writer.u64(static_cast<std::uint64_t>(direction_));
}

bool DayRule::load(Reader& reader) {
  const std::uint64_t size = reader.u64();
  days_.clear();
  std::int64_t last = 0;
  for (std::uint64_t i = 0; i < size && reader.ok(); ++i) {
    Past past;
    past.count.day = last += reader.i64();
    past.count.n = reader.i64();
    past.count.k = reader.i64();
    past.member = static_cast<std::uint32_t>(reader.u64());
    if (past.count.n <= 0 || past.count.k < 0 || past.count.k > past.count.n) return false;
    days_.push_back(past);
  }
  skipped_ = reader.i64();
  member_ = static_cast<std::uint32_t>(reader.u64());
  for (LevelWatch& watch : watches_) {
    if (!watch.load(reader)) return false;
  }
  if (!episode_.load(reader)) return false;
  direction_ = static_cast<Direction>(std::min<std::uint64_t>(reader.u64(), 1));
  return reader.ok();
}

}  // namespace outcomed
