#include "detectors/surge/rate_filter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace outcomed {
namespace {

constexpr double kBurst = 0.003;    // Probability of a burst in a step.
constexpr double kBurstEnds = 0.2;  // 1 + Geom: mean 6 requests.
constexpr double kWideJumps = 0.003;
constexpr int kLongestBurst = 64;     // 0.8^62: what lies beyond doesn't matter.
constexpr float kLeast = 1e-12F;      // A point is never ruled out.
constexpr double kLowestRate = 1e-4;  // Below, rates can't be told apart; keeps powers finite.
const double kLogNoBurst = std::log1p(-kBurst);

}  // namespace

void RateFilter::set(double centre, double sigma, double memory, double steps_per_jump) {
  const Points x = Points::LinSpaced(-3.2 * sigma, 3.2 * sigma);
  const Points rate = (centre * (x - sigma * sigma / 2).exp()).min(0.9).max(kLowestRate);
  log_odds_ = (rate / (1 - rate)).log();
  log_good_ = (1 - rate).log();
  one_over_rate_ = rate.inverse();
  const double innovation = sigma * std::sqrt(1 - memory * memory);
  const auto spread = [&](int from, double sd) -> Points {
    const Points density = (-(x - memory * x(from)).square() / (2 * sd * sd)).exp();
    return density / density.sum();
  };
  const double stays = std::pow(1 - 1 / std::max(steps_per_jump, 1.0), double(kStride));
  for (int i = 0; i < kPoints; ++i) {
    Points to = (1 - kWideJumps) * spread(i, std::max(innovation, 0.1)) +
                kWideJumps * spread(i, std::max(2 * innovation, 0.2));
    to *= 1 - stays;
    to(i) += stays;
    jump_.col(i) = to.cast<float>().matrix();
  }
  if (ready_) {
    carry_over(rate.log());
  } else {
    const Points stationary = (-x.square() / (2 * sigma * sigma)).exp();
    weights_ = (stationary / stationary.sum()).cast<float>();
  }
  log_rate_ = rate.log();
  Evidence alternatives;
  alternatives << 2, 3.5, 6, 12, 25, 60;
  alternatives = (alternatives * centre).min(0.95);
  alternative_log_odds_ = (alternatives / (1 - alternatives)).log();
  alternative_log_good_ = (1 - alternatives).log();
  ready_ = true;
}

// Splits the weight of each old point between the two new ones around it.
void RateFilter::carry_over(const Points& log_rate) {
  Weights moved = Weights::Zero();
  for (int i = 0; i < kPoints; ++i) {
    int above = 1;
    while (above < kPoints - 1 && log_rate(above) < log_rate_(i)) ++above;
    const double gap = log_rate(above) - log_rate(above - 1);
    const double part = gap > 0 ? (log_rate_(i) - log_rate(above - 1)) / gap : 1;
    const auto upper = static_cast<float>(std::clamp(part, 0.0, 1.0));
    moved(above) += upper * weights_(i);
    moved(above - 1) += (1 - upper) * weights_(i);
  }
  weights_ = (moved / moved.sum()).max(kLeast);
}

void RateFilter::move(std::int64_t stride) {
  // After a long gap the weights are where they would end anyway.
  const std::int64_t times = std::clamp<std::int64_t>(stride - stride_, 0, 64);
  stride_ = stride;
  if (!ready_) return;
  for (std::int64_t i = 0; i < times; ++i) {
    weights_ = (jump_ * weights_.matrix()).array();
  }
  weights_ /= weights_.sum();
}

// The likelihood with a possible burst, divided by the binomial one:
//   1 - b + b Σ_c C_c [Π_{i<c} (k - i) / (n - i)] rate^-c,   c = 2…k,
// C the law of the burst's size, restricted to 2…n so that probabilities sum to one.
RateFilter::Points RateFilter::burst_factors(double n, int k) const {
  const int longest = std::min(k, kLongestBurst);
  std::array<double, kLongestBurst + 1> coefficient{};
  const double all = 1 - std::pow(1 - kBurstEnds, n - 1);
  double size = kBurst * kBurstEnds / all;
  double choice = double(k) / n;
  for (int c = 2; c <= longest; ++c) {
    choice *= (double(k) - c + 1) / (n - c + 1);
    coefficient[static_cast<std::size_t>(c)] = size * choice;
    size *= 1 - kBurstEnds;
  }
  Points sum = Points::Constant(coefficient[static_cast<std::size_t>(longest)]);
  for (int c = longest - 1; c >= 0; --c) {
    sum = sum * one_over_rate_ + coefficient[static_cast<std::size_t>(c)];
  }
  return sum + (1 - kBurst);
}

RateFilter::Evidence RateFilter::observe(double n, double k) {
  if (n > kMostCounts) {
    k = std::round(k * (kMostCounts / n));
    n = kMostCounts;
  }
  // Without binomial coefficient, here and below: it cancels.
  const Points log_likelihood = k * log_odds_ + n * log_good_;
  const double top = log_likelihood.maxCoeff();
  double null = top;
  if (k >= 2) {
    const Points joint = (log_likelihood - top).exp() * burst_factors(n, static_cast<int>(k)) *
                         weights_.cast<double>();
    const double sum = joint.sum();
    weights_ = (joint / sum).cast<float>().max(kLeast);
    null += std::log(sum);
  } else {
    const Weights joint = (log_likelihood - top).cast<float>().exp() * weights_;
    const float sum = joint.sum();
    weights_ = (joint / sum).max(kLeast);
    null += std::log(double(sum)) + (n >= 2 ? kLogNoBurst : 0);
  }
  return k * alternative_log_odds_ + n * alternative_log_good_ - null;
}

void RateFilter::save(Writer& writer) const {
  writer.i64(stride_);
  for (int i = 0; i < kPoints; ++i) writer.u64(std::bit_cast<std::uint32_t>(weights_(i)));
}

void RateFilter::load(Reader& reader) {
  stride_ = reader.i64();
  for (int i = 0; i < kPoints; ++i) {
    weights_(i) = std::bit_cast<float>(static_cast<std::uint32_t>(reader.u64()));
  }
}

}  // namespace outcomed
