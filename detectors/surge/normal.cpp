#include "detectors/surge/normal.h"

#include <algorithm>
#include <cmath>

#include "detectors/stats/beta.h"

namespace outcomed {
namespace {

// From this on the series' own numbers count; before, only an outage is beyond the prior.
constexpr std::int64_t kEnoughHours = 24;
constexpr double kEnoughRequests = 100;
// The filter needs blocks that tell how rates follow each other.
constexpr double kFilterFill = 0.2;
constexpr std::int64_t kFilterBlocks = 48;
constexpr double kPriorCeiling = 0.5;
constexpr double kLowestCeiling = 0.005;
constexpr double kPriorRho = 0.01;
constexpr double kMostCount = (1U << 30U) - 1;

}  // namespace

double SurgeNormal::clipped(double n, double k) const {
  const double usual = n * clipped_ceiling;
  return std::min(k, std::floor(usual + 3 * std::sqrt(usual) + 1));
}

void SurgeNormal::save(Writer& writer) const {
  writer.u64((known ? 1U : 0U) | (filter ? 2U : 0U));
  for (const double each :
       {share, ceiling, clipped_ceiling, wobble, centre, sigma, memory, per_step, fill}) {
    writer.f64(each);
  }
  for (const std::int64_t each : {merged_steps, merged_blocks, requests, hours}) writer.i64(each);
}

void SurgeNormal::load(Reader& reader) {
  const std::uint64_t flags = reader.u64();
  known = (flags & 1U) != 0;
  filter = (flags & 2U) != 0;
  for (double* each :
       {&share, &ceiling, &clipped_ceiling, &wobble, &centre, &sigma, &memory, &per_step, &fill}) {
    *each = reader.f64();
  }
  for (std::int64_t* each : {&merged_steps, &merged_blocks, &requests, &hours}) {
    *each = reader.i64();
  }
}

NormalHours::NormalHours(const SurgeSettings& settings)
    : settings_(&settings), hours_(settings.window_blocks()), days_(settings.window_days()) {}

bool NormalHours::add(std::int64_t start_ms, double n, double k, double clipped, Doubt doubt) {
  const bool turned = turn(start_ms, doubt);
  open_k_ += k;
  open_.add(n, clipped);
  seen_ = true;
  barred_ |= doubt == Doubt::incident;
  return turned;
}

bool NormalHours::turn(std::int64_t start_ms, Doubt doubt) {
  const std::int64_t number = start_ms / settings_->block_ms();
  if (number <= number_) return false;
  const bool first = number_ < 0;
  if (!first) close(doubt);
  clear_until(number);
  number_ = number;
  open_ = {};
  open_k_ = 0;
  seen_ = barred_ = false;
  return !first;
}

void NormalHours::close(Doubt doubt) {
  Hour& hour = slot(number_);
  hour = {};
  if (!seen_) return;
  const double scale = std::min(1.0, kMostCount / std::max(open_.n, 1.0));
  hour.n = static_cast<std::uint32_t>(open_.n * scale);
  hour.k = static_cast<std::uint32_t>(open_k_ * scale) & static_cast<std::uint32_t>(kMostCount);
  hour.clipped = static_cast<std::uint32_t>(open_.k * scale);
  barred_ |= doubt == Doubt::incident;
  const bool waits = doubt == Doubt::waits;
  hour.state = barred_ ? kBarred : waits ? kWaiting : kClean;
  if (barred_) return;
  waiting_hours_ += waits ? 1 : 0;
  const double share = share_ > 0 ? share_ : (open_.k + 0.5) / (open_.n + 1);
  (waits ? waiting_ : day_of(number_)).add(open_, share);
}

// Hours between the open one and the next that had no step at all.
void NormalHours::clear_until(std::int64_t number) {
  if (number_ < 0) return;
  const auto most = static_cast<std::int64_t>(hours_.size());
  for (std::int64_t i = std::max(number_ + 1, number - most); i < number; ++i) slot(i) = {};
}

WobbleSums& NormalHours::day_of(std::int64_t number) {
  const std::int64_t day = number * settings_->block_ms() / SurgeSettings::kDayMs;
  forget_days(day);
  return days_[static_cast<std::size_t>(day) % days_.size()];
}

void NormalHours::forget_days(std::int64_t day) {
  if (day <= day_) return;
  const auto most = static_cast<std::int64_t>(days_.size());
  for (std::int64_t i = std::max(day_ + 1, day - most + 1); i <= day; ++i) {
    days_[static_cast<std::size_t>(i) % days_.size()] = {};
  }
  day_ = day;
}

void NormalHours::release() {
  if (waiting_hours_ == 0) return;
  waiting_hours_ = 0;
  for (Hour& hour : hours_) {
    if (hour.state == kWaiting) hour.state = kClean;
  }
  if (waiting_.below > 0) {
    WobbleSums& today = day_of(number_);
    today.above += waiting_.above;
    today.below += waiting_.below;
  }
  waiting_ = {};
}

void NormalHours::bar() {
  for (Hour& hour : hours_) {
    if (hour.state == kWaiting) hour.state = kBarred;
  }
  waiting_ = {};
  waiting_hours_ = 0;
  barred_ = true;
}

// Sums of `merged` hours each, in time order; those without requests stay, as zeros.
struct NormalHours::Blocks {
  Eigen::ArrayXd k;
  Eigen::ArrayXd clipped;
  Eigen::ArrayXd n;
  std::int64_t hours = 0;
};

NormalHours::Blocks NormalHours::blocks(std::int64_t merged, bool all) const {
  Blocks out;
  const auto size = static_cast<std::int64_t>(hours_.size());
  const std::int64_t first = std::max<std::int64_t>(0, number_ - size + 1);
  const std::int64_t count = number_ / merged - first / merged + 1;
  out.k.setZero(count);
  out.clipped.setZero(count);
  out.n.setZero(count);
  for (std::int64_t i = first; i < number_; ++i) {  // The open one isn't in.
    const Hour& hour = hours_[static_cast<std::size_t>(i) % hours_.size()];
    if (hour.state == kAbsent || (!all && hour.state != kClean)) continue;
    ++out.hours;
    const auto block = static_cast<Eigen::Index>(i / merged - first / merged);
    out.k(block) += hour.k;
    out.clipped(block) += hour.clipped;
    out.n(block) += hour.n;
  }
  return out;
}

SurgeNormal NormalHours::learn() const {
  SurgeNormal normal;
  normal.ceiling = normal.clipped_ceiling = std::max(kPriorCeiling, settings_->min_share);
  if (number_ < 0) return normal;
  Blocks hours = blocks(1, false);
  bool all = false;
  if (hours.hours < kEnoughHours) {
    Blocks any = blocks(1, true);
    all = any.hours * 2 >= static_cast<std::int64_t>(hours_.size());
    if (all) hours = std::move(any);
  }
  const auto window = static_cast<std::int64_t>(hours_.size());
  const double requests = hours.n.sum();
  const auto busy = static_cast<std::int64_t>((hours.n > 0).count());
  normal.hours = hours.hours;
  normal.requests = static_cast<std::int64_t>(requests);
  normal.fill = std::min(1.0, double(hours.hours) / double(std::max<std::int64_t>(window - 1, 1)));
  if (requests < kEnoughRequests || busy < std::min(kEnoughHours, window / 2)) return normal;
  normal.known = true;
  learn_steps(normal);
  const Blocks merged =
      normal.merged_blocks == 1 ? std::move(hours) : blocks(normal.merged_blocks, all);
  learn_ceilings(normal, merged);
  learn_filter(normal, merged);
  return normal;
}

// How many buckets bring a request, how many hours bring 60.
void NormalHours::learn_steps(SurgeNormal& normal) const {
  const double per_hour = double(normal.requests) / double(normal.hours);
  const double per_bucket = per_hour * double(settings_->step_ms()) / double(settings_->block_ms());
  const auto up = [](double x, std::int64_t most) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(x)), 1,
                                    std::max<std::int64_t>(most, 1));
  };
  normal.merged_steps = up(0.9 / per_bucket, static_cast<std::int64_t>(settings_->hour_steps()));
  normal.merged_blocks = up(54 / per_hour, static_cast<std::int64_t>(hours_.size()) / 4);
  normal.per_step = per_bucket * double(normal.merged_steps);
}

double NormalHours::ceiling(const SurgeNormal& normal, const BlockMoments& moments) const {
  const double share = std::min(moments.share, 0.999);
  const double count = double(moments.blocks);
  // Few blocks say little about how far apart they are: the prior counts as some more of them.
  const double left = 1 - normal.fill;
  const double prior = 24 * left + std::max(0.0, 48 - count) / 4;
  const double own = std::clamp(moments.rho, 1e-4, 0.3);
  const double rho = (count * own + prior * kPriorRho) / (count + prior);
  const double effective = moments.n / (1 + (moments.n / std::max(1.0, count) - 1) * rho);
  const double error = std::sqrt((share * (1 - share) + 1 / effective) / effective);
  const double margin = 1.64 * error * std::max(left, std::min(1.0, 1000 / effective));
  const double per_minute =
      normal.per_step / double(normal.merged_steps * settings_->step_ms()) * 60'000;
  const double q = per_minute >= 50 ? settings_->busy_quantile : settings_->quantile;
  const double quantile = learned_ceiling(std::min(share + margin, 0.999), rho, q);
  return std::min(std::max({kLowestCeiling, quantile, settings_->min_share}), 0.98);
}

void NormalHours::learn_ceilings(SurgeNormal& normal, const Blocks& blocks) const {
  const BlockMoments moments = block_moments(blocks.k, blocks.n);
  normal.share = std::min(moments.share, 0.999);
  normal.ceiling = ceiling(normal, moments);
  normal.clipped_ceiling = ceiling(normal, block_moments(blocks.clipped, blocks.n));
  WobbleSums steps;
  for (const WobbleSums& day : days_) {
    steps.above += day.above;
    steps.below += day.below;
  }
  normal.wobble = std::clamp(steps.rho(), 0.002 + 0.008 * (1 - normal.fill), 0.2);
}

// Moments of the blocks' shares relative to the mean: noise-corrected variance and covariance of
// neighbours.
void NormalHours::learn_filter(SurgeNormal& normal, const Blocks& blocks) const {
  const double p = normal.share;
  double count = 0;
  double sum = 0;
  double squares = 0;
  double noise = 0;
  double pairs = 0;
  double products = 0;
  double before = -1;
  for (Eigen::Index b = 0; b < blocks.n.size(); ++b) {
    if (blocks.n(b) <= 0) {
      before = -1;
      continue;
    }
    const double ratio = blocks.k(b) / (blocks.n(b) * p);
    count += 1;
    sum += ratio;
    squares += ratio * ratio;
    noise += 1 / (blocks.n(b) * p);
    if (before >= 0) {
      pairs += 1;
      products += (ratio - 1) * (before - 1);
    }
    before = ratio;
  }
  normal.filter = normal.fill >= kFilterFill && count >= double(kFilterBlocks) && pairs > count / 2;
  if (!normal.filter) return;
  const double mean = sum / count;
  const double variance = std::max(squares / count - mean * mean - noise / count, 1e-4);
  const double inflation = 1.1 + 0.2 * (1 - normal.fill);
  normal.sigma = std::clamp(std::sqrt(std::log1p(variance)) * inflation, 0.15, 3.0);
  normal.memory = std::clamp(products / pairs / variance - 0.1, 0.0, 0.95);
  const double lowest = std::max(kLowestCeiling, settings_->min_share / 4);
  normal.centre = std::min(0.9, std::max(p, lowest));
}

bool NormalHours::empty() const {
  return open_.n <= 0 &&
         std::all_of(hours_.begin(), hours_.end(), [](const Hour& hour) { return hour.n == 0; });
}

void NormalHours::save(Writer& writer) const {
  writer.u64(hours_.size());
  for (const Hour& hour : hours_) {
    writer.u64((std::uint64_t{hour.n} << 2U) | hour.state);
    if (hour.n == 0) continue;
    writer.u64(hour.k);
    writer.u64(hour.k - hour.clipped);
  }
  writer.u64(days_.size());
  for (const WobbleSums& day : days_) {
    writer.f64(day.above);
    writer.f64(day.below);
  }
  writer.i64(number_);
  writer.i64(day_);
  writer.i64(waiting_hours_);
  writer.u64((seen_ ? 1U : 0U) | (barred_ ? 2U : 0U));
  for (const double each : {open_k_, open_.n, open_.k, open_.nn, open_.nk, open_.kk, waiting_.above,
                            waiting_.below, share_}) {
    writer.f64(each);
  }
}

bool NormalHours::load(Reader& reader) {
  if (reader.u64() != hours_.size()) return false;
  for (Hour& hour : hours_) {
    const std::uint64_t packed = reader.u64();
    hour.n = static_cast<std::uint32_t>(packed >> 2U);
    hour.state = packed & 3U;
    hour.k = hour.n > 0 ? reader.u64() & static_cast<std::uint32_t>(kMostCount) : 0U;
    const std::uint64_t cut = hour.n > 0 ? reader.u64() : 0U;
    if (cut > hour.k) return false;
    hour.clipped = hour.k - static_cast<std::uint32_t>(cut);
  }
  if (reader.u64() != days_.size()) return false;
  for (WobbleSums& day : days_) {
    day.above = reader.f64();
    day.below = reader.f64();
  }
  number_ = reader.i64();
  day_ = reader.i64();
  waiting_hours_ = reader.i64();
  const std::uint64_t flags = reader.u64();
  seen_ = (flags & 1U) != 0;
  barred_ = (flags & 2U) != 0;
  for (double* each : {&open_k_, &open_.n, &open_.k, &open_.nn, &open_.nk, &open_.kk,
                       &waiting_.above, &waiting_.below, &share_}) {
    *each = reader.f64();
  }
  return reader.ok() && number_ >= -1 && day_ >= -1;
}

}  // namespace outcomed
