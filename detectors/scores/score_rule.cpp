#include "detectors/scores/score_rule.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "detectors/stats/binomial.h"

namespace outcomed {
namespace {

constexpr int kQuantiles = 10;
constexpr std::size_t kRises = 1;  // Of the two sides of a cut.

// What is above the highest score that was normal.
double just_above(double score) { return std::nextafter(score, INFINITY); }

std::map<double, std::int64_t> pooled(const std::vector<const ScoreDay*>& days) {
  std::map<double, std::int64_t> sums;
  for (const ScoreDay* day : days) {
    for (const auto& [score, count] : day->counts) sums[score] += count;
  }
  return sums;
}

double mean_of(const std::map<double, std::int64_t>& counts) {
  double n = 0;
  double sum = 0;
  for (const auto& [score, count] : counts) {
    n += static_cast<double>(count);
    sum += score * static_cast<double>(count);
  }
  return n > 0 ? sum / n : 0;
}

}  // namespace

std::int64_t ScoreDay::at_least(double cut) const {
  std::int64_t sum = 0;
  for (const auto& [score, count] : counts) {
    if (score >= cut) sum += count;
  }
  return sum;
}

double ScoreDay::mean() const { return mean_of(pooled({this})); }

// As in a baseline rule: the normal is what was before the days that the evidence runs through,
// but not so long before that it is out of date.
std::int64_t ScoreRule::frozen(const LevelWatch& watch, std::int64_t today) const {
  std::int64_t before = today;
  if (watch.running_since() != LevelWatch::kNever) {
    before = std::max(watch.running_since(), today - detector_->days().frozen_days());
  }
  return episode_.on() ? std::min(before, episode_.frozen()) : before;
}

bool ScoreRule::is_normal(const ScoreDay& day, std::int64_t before) const {
  const std::int64_t end = before - skipped_;
  return day.day < end && day.day >= end - detector_->days().normal_days();
}

std::vector<double> ScoreRule::wanted_cuts(std::int64_t today) {
  if (!detector_->fixed_cuts().empty()) return detector_->fixed_cuts();
  std::vector<const ScoreDay*> all;
  for (const ScoreDay& day : days_) all.push_back(&day);
  std::map<double, std::int64_t> scores = pooled(all);
  std::vector<double> cuts;
  if (scores.size() <= ScoresDetector::kMostCuts) {
    chosen_on_ = 0;
    for (const auto& [score, count] : scores) cuts.push_back(score);
    cuts.push_back(just_above(cuts.back()));
    return cuts;
  }
  // Quantiles must not wander with each day: a cut that moves loses its evidence.
  const std::int64_t lasts = 4 * detector_->days().baseline_days;
  const bool stay = chosen_on_ != 0 && (episode_.on() || today - chosen_on_ < lasts);
  if (stay) {
    for (const Cut& cut : cuts_) cuts.push_back(cut.at);
    return cuts;
  }
  chosen_on_ = today;
  std::int64_t n = 0;
  for (const auto& [score, count] : scores) n += count;
  std::int64_t below = 0;
  int next = 1;
  for (const auto& [score, count] : scores) {
    below += count;
    bool taken = false;
    for (; next <= kQuantiles && below * (kQuantiles + 1) > n * next; ++next) taken = true;
    if (taken) cuts.push_back(score);
  }
  return cuts;
}

void ScoreRule::choose_cuts(std::int64_t today) {
  const std::vector<double> wanted = wanted_cuts(today);
  if (std::ranges::equal(wanted, cuts_, {}, {}, &Cut::at)) return;
  std::vector<Cut> cuts;
  for (const double at : wanted) {
    const auto known = std::ranges::find(cuts_, at, &Cut::at);
    if (known != cuts_.end()) {
      cuts.push_back(*known);
    } else {
      cuts.emplace_back().at = at;
    }
  }
  cuts_ = std::move(cuts);
}

void ScoreRule::compare(const ScoreDay& today, std::int64_t before, ScoreFinding& finding) const {
  std::vector<const ScoreDay*> normal;
  for (const ScoreDay& day : days_) {
    if (is_normal(day, before)) normal.push_back(&day);
  }
  const std::map<double, std::int64_t> usual = pooled(normal);
  std::map<double, std::pair<double, double>> both;
  for (const auto& [score, count] : usual) both[score].first = static_cast<double>(count);
  for (const auto& [score, count] : today.counts) both[score].second = static_cast<double>(count);
  std::vector<double> points;
  std::vector<double> first;
  std::vector<double> second;
  for (const auto& [score, counts] : both) {
    points.push_back(score);
    first.push_back(counts.first);
    second.push_back(counts.second);
  }
  finding.days = static_cast<std::int64_t>(normal.size());
  finding.normal_n = 0;
  for (const ScoreDay* day : normal) finding.normal_n += day->n;
  finding.mean = today.mean();
  finding.normal_mean = mean_of(usual);
  if (const auto distance = distance_between(points, first, second)) finding.distance = *distance;
  if (finding.normal_n > 0) {
    finding.psi_without_drift =
        psi_without_drift(points.size(), double(today.n), double(finding.normal_n));
  }
}

void ScoreRule::restart() {
  for (Cut& cut : cuts_) {
    for (LevelWatch& watch : cut.watches) watch.reset();
  }
  episode_.end();
}

void ScoreRule::follow_episode(const ScoreDay& today, const LevelWatch& leading, double alone,
                               ScoreFinding& finding) {
  const bool runs = leading.running_since() != LevelWatch::kNever;
  const std::int64_t before = frozen(leading, today.day);
  finding.onset = runs ? std::max(leading.onset(), before) : today.day;
  finding.outcome =
      episode_.take({today.day, finding.evidence >= std::log(detector_->days().budget()),
                     finding.evidence, alone, finding.onset, std::min(finding.onset, before)},
                    detector_->days().accept_days());
  if (episode_.on()) finding.onset = episode_.onset();
  finding.since_days = 1 + std::ranges::count_if(days_, [&](const ScoreDay& day) {
                         return day.day + skipped_ >= finding.onset;
                       });
  if (finding.outcome == DayEpisode::Outcome::recovered) {
    const std::int64_t from = episode_.frozen();
    std::erase_if(days_, [&](const ScoreDay& day) { return day.day + skipped_ >= from; });
    skipped_ += today.day - from;
    restart();
  } else if (finding.outcome == DayEpisode::Outcome::accepted) {
    const std::int64_t from = episode_.onset();
    std::erase_if(days_, [&](const ScoreDay& day) { return day.day + skipped_ < from; });
    restart();
    chosen_on_ = 0;
  }
}

// The normal of each cut and side.
void ScoreRule::learn_levels(std::int64_t today) {
  std::vector<DayCount> chosen;
  for (Cut& cut : cuts_) {
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int64_t before = frozen(cut.watches[side], today);
      chosen.clear();
      for (const ScoreDay& day : days_) {
        if (!is_normal(day, before)) continue;
        const std::int64_t k = day.at_least(cut.at);
        chosen.push_back({day.day, day.n, side == kRises ? day.n - k : k});
      }
      cut.levels[side] = normal_level(chosen);
    }
  }
}

void ScoreRule::weigh(const ScoreDay& today, ScoreFinding& finding) {
  learn_levels(today.day);
  // A cut in the middle of the scores says more than one at their rare ends.
  const auto weight = [](const NormalLevel& level) { return level.share * (1 - level.share); };
  double weights = 0;
  double sides = 0;
  for (const Cut& cut : cuts_) {
    for (const auto& level : cut.levels) {
      weights += level ? weight(*level) : 0;
      sides += level ? 1 : 0;
    }
  }
  std::vector<double> evidence;
  std::vector<double> alone;
  const Cut* best = nullptr;
  std::size_t best_side = 0;
  for (Cut& cut : cuts_) {
    const std::int64_t k = today.at_least(cut.at);
    for (std::size_t side = 0; side < 2; ++side) {
      if (!cut.levels[side]) continue;
      const NormalLevel& level = *cut.levels[side];
      LevelWatch& watch = cut.watches[side];
      const double share_of_weight = weight(level) / weights;
      watch.take(level, {today.day, today.n, side == kRises ? today.n - k : k},
                 share_of_weight * sides);
      evidence.push_back(watch.evidence() - std::log(sides));
      alone.push_back(watch.today() + std::log(share_of_weight));
      if (best == nullptr || watch.evidence() > best->watches[best_side].evidence()) {
        best = &cut;
        best_side = side;
      }
    }
  }
  if (best == nullptr) return;
  const auto sum = [](const std::vector<double>& logs) {
    return log_sum_exp(
        Eigen::Map<const Eigen::ArrayXd>(logs.data(), static_cast<Eigen::Index>(logs.size())));
  };
  finding.cuts = static_cast<std::int64_t>(cuts_.size());
  finding.evidence = sum(evidence);
  finding.rises = best_side == kRises;
  finding.cut = best->at;
  if (detector_->fixed_cuts().empty() && chosen_on_ == 0 && best == &cuts_.back()) {
    finding.above = true;
    finding.cut = cuts_[cuts_.size() - 2].at;
  }
  const NormalLevel& level = *best->levels[best_side];
  finding.at_cut = today.at_least(best->at);
  finding.normal_share = finding.rises ? 1 - level.share : level.share;
  finding.worst_share = finding.rises ? 1 - level.worst_share() : level.worst_share();
  compare(today, frozen(best->watches[best_side], today.day), finding);
  follow_episode(today, best->watches[best_side], sum(alone), finding);
}

void ScoreRule::remember(ScoreDay today) {
  today.day -= skipped_;
  const std::int64_t newest =
      episode_.on() ? std::min(today.day, episode_.frozen() - skipped_) : today.day;
  const std::int64_t oldest =
      std::min(today.day - detector_->days().kept_days(), newest - detector_->days().normal_days());
  std::erase_if(days_, [&](const ScoreDay& day) { return day.day < oldest; });
  days_.push_back(std::move(today));
}

ScoreFinding ScoreRule::judge(ScoreDay today) {
  ScoreFinding finding;
  finding.onset = today.day;
  finding.since_days = 1;
  finding.mean = today.mean();
  std::int64_t before = today.day;
  for (const Cut& cut : cuts_) {
    for (const LevelWatch& watch : cut.watches) before = std::min(before, frozen(watch, today.day));
  }
  finding.days =
      std::ranges::count_if(days_, [&](const ScoreDay& day) { return is_normal(day, before); });
  finding.established = finding.days >= detector_->days().least_days();
  if (finding.established) {
    choose_cuts(today.day);
    weigh(today, finding);
  }
  remember(std::move(today));
  return finding;
}

void ScoreFinding::save(Writer& writer) const {
  writer.u64(established ? 1 : 0);
  writer.i64(days);
  writer.i64(normal_n);
  for (const double value :
       {mean, normal_mean, distance.wasserstein, distance.ks, distance.ks_cut, distance.energy,
        distance.psi, distance.jensen_shannon, distance.hellinger, psi_without_drift, evidence, cut,
        normal_share, worst_share}) {
    writer.f64(value);
  }
  writer.i64(cuts);
  writer.u64(above ? 1 : 0);
  writer.u64(rises ? 1 : 0);
  writer.i64(at_cut);
  writer.u64(static_cast<std::uint64_t>(outcome));
  writer.i64(onset);
  writer.i64(since_days);
}

bool ScoreFinding::load(Reader& reader) {
  established = reader.u64() != 0;
  days = reader.i64();
  normal_n = reader.i64();
  for (double* value :
       {&mean, &normal_mean, &distance.wasserstein, &distance.ks, &distance.ks_cut,
        &distance.energy, &distance.psi, &distance.jensen_shannon, &distance.hellinger,
        &psi_without_drift, &evidence, &cut, &normal_share, &worst_share}) {
    *value = reader.f64();
  }
  cuts = reader.i64();
  above = reader.u64() != 0;
  rises = reader.u64() != 0;
  at_cut = reader.i64();
  outcome = static_cast<DayEpisode::Outcome>(std::min<std::uint64_t>(reader.u64(), 4));
  onset = reader.i64();
  since_days = reader.i64();
  return reader.ok();
}

void ScoreRule::save(Writer& writer) const {
  writer.u64(days_.size());
  for (const ScoreDay& day : days_) {
    writer.i64(day.day);
    writer.u64(day.counts.size());
    for (const auto& [score, count] : day.counts) {
      writer.f64(score);
      writer.i64(count);
    }
  }
  writer.i64(skipped_);
  writer.u64(cuts_.size());
  for (const Cut& cut : cuts_) {
    writer.f64(cut.at);
    for (const LevelWatch& watch : cut.watches) watch.save(writer);
  }
  writer.i64(chosen_on_);
  episode_.save(writer);
}

bool ScoreRule::load(Reader& reader) {
  days_.clear();
  cuts_.clear();
  for (std::uint64_t left = reader.u64(); left > 0 && reader.ok(); --left) {
    ScoreDay day;
    day.day = reader.i64();
    for (std::uint64_t rest = reader.u64(); rest > 0 && reader.ok(); --rest) {
      const double score = reader.f64();
      const std::int64_t count = reader.i64();
      if (!std::isfinite(score) || count <= 0) return false;
      day.counts.emplace_back(score, count);
      day.n += count;
    }
    days_.push_back(std::move(day));
  }
  skipped_ = reader.i64();
  for (std::uint64_t left = reader.u64(); left > 0 && reader.ok(); --left) {
    Cut& cut = cuts_.emplace_back();
    cut.at = reader.f64();
    for (LevelWatch& watch : cut.watches) {
      if (!watch.load(reader)) return false;
    }
  }
  chosen_on_ = reader.i64();
  return episode_.load(reader) && reader.ok();
}

}  // namespace outcomed
