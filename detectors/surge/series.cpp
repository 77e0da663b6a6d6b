#include "detectors/surge/series.h"

#include <algorithm>
#include <cmath>

#include "detectors/stats/binomial.h"

namespace outcomed {
namespace {

constexpr double kMostSum = 1e30;                    // Evidence beyond is no more evidence.
constexpr std::int64_t kMostCounts = 1'000'000'000;  // Of one step.
constexpr std::uint32_t kBadSteps = 3;               // No alarm on fewer.
constexpr std::int64_t kRecentMs = 900'000;
constexpr std::int64_t kSmallMs = 600'000;
constexpr double kOutage = 0.5;
constexpr std::size_t kTemperWindows = 3;

bool is_a_little_below(double x, double other, double part) {
  return x <= other && x >= other * (1 - part);
}

double expected_clipped(const SurgeNormal& normal, std::int64_t n, double share) {
  const Eigen::ArrayXd part = beta_binomial_log_pmf(n, share, 0).exp();
  double sum = 0;
  for (Eigen::Index k = 0; k < part.size(); ++k) {
    sum += part(k) * normal.clipped(double(n), double(k));
  }
  return sum;
}

}  // namespace

SurgeSeries::SurgeSeries(const SurgeSettings& settings)
    : settings_(&settings),
      hour_(settings.hour_steps()),
      hours_(settings),
      tempering_(kTemperWindows * settings.window_days()) {
  use(hours_.learn());
}

Duration SurgeSeries::step() const { return settings_->step * normal_.merged_steps; }

void SurgeSeries::push(Timestamp start, std::int64_t n, std::int64_t k, Coverage coverage,
                       double share_of_budget) {
  const std::int64_t start_ms = unix_ms(start);
  end_ms_ = start_ms + settings_->step_ms();
  const std::int64_t bucket = start_ms / settings_->step_ms();
  const std::int64_t number = bucket / normal_.merged_steps;
  if (open_seen_ && number != open_number_) close_step(share_of_budget);
  const std::int64_t day = start_ms / SurgeSettings::kDayMs;
  if (day > learned_day_) {
    relearn(start_ms);
    learned_day_ = day;
  }
  if (coverage == Coverage::complete && n >= 0 && k >= 0) {
    k = std::min(k, kMostCounts);
    n = std::clamp(n, k, kMostCounts);
    hour_.push(n, k);
    if (!open_seen_) open_start_ms_ = start_ms;
    open_number_ = bucket / normal_.merged_steps;
    open_seen_ = true;
    open_n_ += n;
    open_k_ += k;
  } else {
    hour_.push(0, 0);
  }
  const HourOfSteps::Sums hour = hour_.all();
  const bool crossed = double(hour.k) > kClassicLine * double(hour.n) * (1 + 1e-12);
  classic_steps_ = crossed ? classic_steps_ + 1 : 0;
  if (open_seen_ && (bucket + 1) % normal_.merged_steps == 0) close_step(share_of_budget);
  if (latched_) try_unlatch();
}

void SurgeSeries::close_step(double share_of_budget) {
  const auto n = static_cast<double>(open_n_);
  const auto k = static_cast<double>(open_k_);
  last_start_ms_ = open_start_ms_;
  const bool turned = hours_.add(open_start_ms_, n, k, normal_.clipped(n, k),
                                 latched_    ? NormalHours::Doubt::incident
                                 : doubtful_ ? NormalHours::Doubt::waits
                                             : NormalHours::Doubt::none);
  if (filter_.ready()) filter_.pass(open_number_);
  if (open_n_ > 0) judge(n, k, share_of_budget);
  all_n_ += open_n_;
  all_k_ += open_k_;
  open_n_ = open_k_ = 0;
  open_seen_ = false;
  if (turned && !normal_.known) relearn(last_start_ms_);
}

void SurgeSeries::judge(double n, double k, double share_of_budget) {
  weigh(n, k);
  accumulate();
  doubt(n, k);
  if (normal_.known) tempering_.push(x_, latched_ || doubtful_);
  track();
  if (latched_) {
    if (k > line_ * n) note_bad_step();
  } else if (sums_.maxCoeff() >= budget_ && alarming(share_of_budget)) {
    latch();
  }
}

// The log evidence of a step for every lane.
void SurgeSeries::weigh(double n, double k) {
  const TiltTable::Counts scaled = TiltTable::scaled(
      static_cast<std::int64_t>(n), static_cast<std::int64_t>(normal_.clipped(n, k)));
  const TiltTable::Row& row = tilts_.at(scaled.n);
  for (int j = 0; j < kSurgeStatic; ++j) {
    const auto i = static_cast<std::size_t>(j);
    x_(j) = row.theta[i] * scaled.k - row.log_mgf[i];
  }
  if (filter_.ready()) x_.tail<RateFilter::kAlternatives>() = filter_.observe(n, k);
}

void SurgeSeries::accumulate() {
  SurgeLanes gained = x_.min(cap_).max(-600);
  gained.head<kSurgeHalf>() *= gamma_static();
  gained.tail<RateFilter::kAlternatives>() *= tempering_.of_filter();
  sums_ = ((sums_ + 1) * gained.exp()).min(kMostSum);
}

void SurgeSeries::track() {
  const SurgeLanes before = cusum_;
  cusum_ = before.max(0) + x_.min(cap_);
  if (cusum_.maxCoeff() <= 0) return;
  for (int j = 0; j < kSurgeLanes; ++j) {
    if (cusum_(j) <= 0) continue;
    Track& lane = tracks_[static_cast<std::size_t>(j)];
    if (before(j) <= 0) lane = {last_start_ms_, all_n_, all_k_, 0};
    if (x_(j) > 0) ++lane.ups;
  }
}

int SurgeSeries::best_track() const {
  int best = 0;
  cusum_.maxCoeff(&best);
  return cusum_(best) > 0 ? best : -1;
}

HourOfSteps::Sums SurgeSeries::recent() const {
  if (!latched_) return hour_.last(recent_steps_);
  const std::int64_t since = (end_ms_ - unix_ms(alarm_.start)) / settings_->step_ms();
  const auto steps = static_cast<std::size_t>(std::max<std::int64_t>(since, 1));
  return hour_.last(std::min(recent_steps_, steps));
}

SurgeSeries::Since SurgeSeries::since() const {
  if (latched_) {
    Since since = alarm_;
    since.n = all_n_ - alarm_n_;
    since.k = all_k_ - alarm_k_;
    return since;
  }
  const int best = best_track();
  if (best < 0) return {from_unix_ms(last_start_ms_), 0, 0, 0};
  const Track& lane = tracks_[static_cast<std::size_t>(best)];
  return {from_unix_ms(lane.start_ms), all_n_ - lane.n, all_k_ - lane.k, lane.ups};
}

double SurgeSeries::evidence() const {
  const double fixed = static_evidence(sums_);
  return filter_.ready() ? (fixed + filter_evidence(sums_)) / 2 : fixed;
}

bool SurgeSeries::alarming(double share_of_budget) const {
  if (evidence() < budget_ * share_of_budget) return false;
  const int best = best_track();
  if (best < 0) return false;
  const Track& lane = tracks_[static_cast<std::size_t>(best)];
  // The step in judgement isn't in all_n_ yet.
  const auto n = static_cast<double>(all_n_ - lane.n + open_n_);
  const auto k = static_cast<double>(all_k_ - lane.k + open_k_);
  return lane.ups >= kBadSteps && k > settings_->min_share * n;
}

void SurgeSeries::latch() {
  if (latched_) return;
  const int best = best_track();
  Track lane{last_start_ms_, all_n_, all_k_, 1};
  if (best >= 0) lane = tracks_[static_cast<std::size_t>(best)];
  latched_ = true;
  alarm_ = {from_unix_ms(lane.start_ms), 0, 0, lane.ups};
  alarm_n_ = lane.n;
  alarm_k_ = lane.k;
  note_bad_step();
  // An alarm of the filter may lie below the static ceiling: half-way back to normal ends it.
  const auto n = static_cast<double>(all_n_ - lane.n + open_n_);
  const auto k = static_cast<double>(all_k_ - lane.k + open_k_);
  const double half_way = (k / std::max(n, 1.0) + normal_.share) / 2;
  line_ = std::min(normal_.ceiling, std::max(settings_->min_share, half_way));
  hours_.bar();
}

// The open step belongs to the alarm; its counts since the onset reach to here.
void SurgeSeries::note_bad_step() {
  last_bad_ms_ = last_start_ms_;
  bad_n_ = all_n_ - alarm_n_ + open_n_;
  bad_k_ = all_k_ - alarm_k_ + open_k_;
}

void SurgeSeries::try_unlatch() {
  const HourOfSteps::Sums sums = recent();
  if (sums.n == 0 || double(sums.k) > line_ * double(sums.n)) return;
  rearm();
}

// Minutes in which a part of the requests failed, and shares that the series has always had, are
// what pages nobody wants are made of; a short outage may be one.
void SurgeSeries::rearm() {
  const std::int64_t lasted = last_bad_ms_ + step().count() - unix_ms(alarm_.start);
  const double share = bad_n_ > 0 ? double(bad_k_) / double(bad_n_) : 0;
  const bool is_short = lasted <= std::max(kSmallMs, 10 * step().count());
  if (since().share() <= normal_.ceiling || (is_short && share < kOutage)) {
    tempering_.bar(Tempering::Incident::mild);
  } else {
    tempering_.bar(is_short ? Tempering::Incident::small : Tempering::Incident::real);
  }
  latched_ = doubtful_ = false;
  excess_ = 0;
  sums_.setZero();
  cusum_.setZero();
}

// Whether the present may not be normal: failures above the ceiling, or a hundredth of the evidence
// that an alarm needs.
void SurgeSeries::doubt(double n, double k) {
  if (latched_) return;
  const bool before = doubtful_;
  excess_ = std::max(0.0, excess_ + k - normal_.ceiling * n);
  doubtful_ = excess_ > 0 || evidence() >= budget_ / 100;
  if (before && !doubtful_) {
    hours_.release();
    tempering_.release();
  }
}

void SurgeSeries::relearn(std::int64_t now_ms) {
  tempering_.turn(now_ms / SurgeSettings::kDayMs);
  const bool lasting = now_ms - unix_ms(alarm_.start) >= settings_->learn.count();
  if (latched_ && !lasting) return;  // The line of an alarm stays what it was.
  const SurgeNormal normal = hours_.learn();
  if (normal.known || normal_.known) {
    use(settled(normal));
  } else {
    normal_.hours = normal.hours;  // How far it has come.
    normal_.requests = normal.requests;
    normal_.fill = normal.fill;
  }
  if (latched_ && normal.known) rearm();  // What has lasted for a window is normal now.
}

// Learned anew, but as before where that makes little difference: tables then need not be made
// again. A ceiling that is a little too high is safe.
SurgeNormal SurgeSeries::settled(SurgeNormal normal) const {
  const SurgeNormal& before = normal_;
  if (!before.known || !normal.known) return normal;
  if (is_a_little_below(normal.ceiling, before.ceiling, 0.05)) normal.ceiling = before.ceiling;
  if (is_a_little_below(normal.clipped_ceiling, before.clipped_ceiling, 0.05)) {
    normal.clipped_ceiling = before.clipped_ceiling;
  }
  if (is_a_little_below(normal.wobble, before.wobble, 0.2)) normal.wobble = before.wobble;
  const bool same = std::abs(normal.centre - before.centre) <= 0.03 * before.centre &&
                    std::abs(normal.sigma - before.sigma) <= 0.06 * before.sigma &&
                    std::abs(normal.memory - before.memory) <= 0.1;
  if (before.filter && normal.filter && same) {
    normal.centre = before.centre;
    normal.sigma = before.sigma;
    normal.memory = before.memory;
  }
  return normal;
}

void SurgeSeries::use(const SurgeNormal& normal) {
  const SurgeNormal before = normal_;
  const bool fresh = tilts_.size() == 0;
  normal_ = normal;
  hours_.set_share(normal.share);
  if (fresh || before.clipped_ceiling != normal.clipped_ceiling || before.wobble != normal.wobble) {
    tilts_ =
        TiltTable(normal.clipped_ceiling, normal.wobble, rise_alternatives(normal.clipped_ceiling));
  }
  if (fresh || before.merged_steps != normal.merged_steps) set_caps();
  const bool same_filter = before.filter == normal.filter && before.centre == normal.centre &&
                           before.sigma == normal.sigma && before.memory == normal.memory &&
                           before.merged_steps == normal.merged_steps &&
                           before.merged_blocks == normal.merged_blocks;
  if (!same_filter) set_filter();
}

void SurgeSeries::set_filter() {
  if (!normal_.filter) {
    filter_ = RateFilter();
    x_.tail<RateFilter::kAlternatives>().setConstant(kNoLane);
    sums_.tail<RateFilter::kAlternatives>().setZero();
    cusum_.tail<RateFilter::kAlternatives>().setZero();
    return;
  }
  const double block_steps = double(settings_->block_ms() * normal_.merged_blocks) /
                             double(settings_->step_ms() * normal_.merged_steps);
  filter_.set(normal_.centre, normal_.sigma, normal_.memory, block_steps);
}

void SurgeSeries::set_caps() {
  budget_ = std::max(2.0, double(settings_->false_page_every.count()) /
                              double(settings_->step_ms() * normal_.merged_steps));
  const double log_a = std::log(budget_);
  cap_.head<kSurgeHalf>().setConstant(log_a / 3);
  cap_.tail<RateFilter::kAlternatives>().setConstant(log_a / 2);
  tempering_.set_level(1.5 * double(settings_->learn.count()) /
                       double(settings_->step_ms() * normal_.merged_steps));
  recent_steps_ = static_cast<std::size_t>(
      std::clamp<std::int64_t>(std::max(kRecentMs / settings_->step_ms(), 3 * normal_.merged_steps),
                               1, static_cast<std::int64_t>(settings_->hour_steps())));
}

double SurgeSeries::visible_in_an_hour() const {
  const double per_step =
      normal_.known ? normal_.per_step
                    : std::max(1.0, double(hour_.all().n) / double(settings_->hour_steps()));
  const auto n = std::clamp<std::int64_t>(std::llround(per_step), 1, TiltTable::kMostCounts);
  const double steps = double(SurgeSettings::kHourMs) / double(step().count());
  const double needed = std::log(budget_ * 2 * kSurgeStatic);
  TiltTable table = tilts_;
  const TiltTable::Row& row = table.at(n);
  for (int percent = 1; percent < 100; ++percent) {
    const double share = percent / 100.0;
    if (share <= normal_.ceiling) continue;
    const double k = expected_clipped(normal_, n, share);
    double best = 0;
    for (std::size_t j = 0; j < kSurgeStatic; ++j) {
      best = std::max(best, row.theta[j] * k - row.log_mgf[j]);
    }
    best = std::min(best, std::log(budget_) / 3) * gamma_static();
    if (best * steps >= needed) return share;
  }
  return 1;
}

bool SurgeSeries::empty() const {
  return !latched_ && hour_.all().n == 0 && open_n_ == 0 && hours_.empty();
}

}  // namespace outcomed
