#include "detectors/stats/level_watch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "detectors/stats/binomial.h"
#include "detectors/stats/ceiling.h"
#include "detectors/stats/tilt.h"

namespace outcomed {
namespace {

constexpr double kPriorRho = 0.01;
constexpr double kPriorDays = 14;
constexpr double kLeastRho = 0.001;
constexpr double kMostRho = 0.3;
constexpr double kMostRaise = 0.01;  // Of rho: in small feeds its error says nothing.
constexpr double kErrors = 1.64;     // Of the level, by which the worst normal lies below it.
constexpr double kLowestWorst = 0.6;
constexpr double kHighestWorst = 0.995;

double with_odds_divided(double share, double by) {
  const double odds = share / (1 - share) / by;
  return odds / (1 + odds);
}

std::vector<double> lower_shares(LevelWatch::Against against, double level, double worst) {
  if (against == LevelWatch::Against::odds) {
    return {with_odds_divided(worst, 2), with_odds_divided(worst, 8)};
  }
  std::vector<double> out;
  for (const double part : {0.7, 0.5, 0.25}) out.push_back(std::min(part * level, 0.9 * worst));
  out.push_back(with_odds_divided(worst, 2));
  out.push_back(with_odds_divided(worst, 4));
  return out;
}

double log_mean_exp(std::span<const double> x) {
  const double top = *std::ranges::max_element(x);
  double sum = 0;
  for (const double value : x) sum += std::exp(value - top);
  return top + std::log(sum / double(x.size()));
}

}  // namespace

double NormalLevel::error() const { return std::sqrt(share * (1 - share) * variance); }

double NormalLevel::worst_share() const {
  return std::min(std::max(kLowestWorst * share, share - kErrors * error()), kHighestWorst);
}

std::optional<NormalLevel> normal_level(std::span<const DayCount> days) {
  if (days.empty()) return std::nullopt;
  const auto size = static_cast<Eigen::Index>(days.size());
  Eigen::ArrayXd n(size);
  Eigen::ArrayXd k(size);
  for (Eigen::Index i = 0; i < size; ++i) {
    n(i) = static_cast<double>(days[static_cast<std::size_t>(i)].n);
    k(i) = static_cast<double>(days[static_cast<std::size_t>(i)].k);
  }
  const BlockMoments moments = block_moments(k, n);
  NormalLevel level;
  level.n = moments.n;
  level.k = moments.k;
  level.days = moments.blocks;
  level.share = (moments.k + 0.5) / (moments.n + 1);
  const auto count = static_cast<double>(size);
  const double below = ((n - 1) * (1 - n / moments.n)).sum();
  const double spread = 1 + moments.n / count * std::max(0.0, moments.rho);
  const double error = below > 0 ? std::sqrt(2 * count) * spread / below : 0;
  const auto rho = [&](double raised) {
    const double measured = std::clamp(moments.rho + raised, 0.0, kMostRho);
    const double drawn = (count * measured + kPriorDays * kPriorRho) / (count + kPriorDays);
    return std::max(drawn, kLeastRho);
  };
  level.rho = rho(std::min(error, kMostRaise));
  level.high_rho = rho(kErrors * error);
  level.variance = (n * (1 + (n - 1) * level.rho)).sum() / (moments.n * moments.n);
  return level;
}

double chance_of_at_most(const NormalLevel& level, std::int64_t n, std::int64_t k) {
  const TiltTable::Counts counts = TiltTable::scaled(n, k);
  const double rho = std::min(level.high_rho + level.variance, 0.99);
  return beta_binomial_cdf(std::llround(counts.k), counts.n, level.share, rho);
}

LevelWatch::LevelWatch(Against against)
    : against_(against), sums_(against == Against::shares ? 5 : 2) {}

void LevelWatch::reset() {
  sums_.reset();
  today_ = 0;
  running_since_ = kNever;
}

void LevelWatch::take(const NormalLevel& level, const DayCount& today, double weight) {
  const double worst = level.worst_share();
  const std::vector<double> shares = lower_shares(against_, level.share, worst);
  TiltTable table(worst, level.rho, shares);
  const TiltTable::Counts counts = TiltTable::scaled(today.n, today.k);
  const TiltTable::Row& row = table.at(counts.n);
  std::vector<double> gains;
  for (std::size_t j = 0; j < shares.size(); ++j) {
    gains.push_back(row.theta[j] * counts.k - row.log_mgf[j]);
  }
  today_ = log_mean_exp(gains);
  sums_.push(gains, std::numeric_limits<double>::infinity(), today.day, weight);
  if (sums_.highest_cusum() <= 0) {
    running_since_ = kNever;
  } else if (running_since_ == kNever) {
    running_since_ = today.day;
  }
}

void LevelWatch::save(Writer& writer) const {
  sums_.save(writer);
  writer.f64(today_);
  writer.i64(running_since_);
}

bool LevelWatch::load(Reader& reader) {
  if (!sums_.load(reader)) return false;
  today_ = reader.f64();
  running_since_ = reader.i64();
  return reader.ok();
}

}  // namespace outcomed
