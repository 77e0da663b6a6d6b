#include "detectors/stats/tilt.h"

#include <algorithm>
#include <cmath>

#include "detectors/stats/binomial.h"

namespace outcomed {
namespace {

// pmf(k) / pmf(k-1) for k = 1…n, and log pmf(0).
struct Ratios {
  std::vector<double> ratio;
  double log_first = 0;
};

Ratios ratios(std::int64_t n, double p0, double rho) {
  Ratios out;
  out.log_first = beta_binomial_log_pmf(0, n, p0, rho);
  out.ratio.reserve(static_cast<std::size_t>(n));
  const auto all = static_cast<double>(n);
  const double s = 1 / rho - 1;
  for (std::int64_t i = 1; i <= n; ++i) {
    const auto k = static_cast<double>(i);
    out.ratio.push_back((all - k + 1) / k * (k - 1 + p0 * s) / (all - k + (1 - p0) * s));
  }
  return out;
}

struct Cumulants {
  double log_mgf = 0;
  double mean = 0;
  double variance = 0;
};

// Σ pmf(k) z^k and its first two moments, scaled down whenever a term grows too large.
Cumulants cumulants(const Ratios& law, double theta) {
  constexpr double kLarge = 1e200;
  const double z = std::exp(theta);
  double term = 1;
  double sum = 1;
  double first = 0;
  double second = 0;
  double scale = law.log_first;
  double k = 0;
  for (const double ratio : law.ratio) {
    k += 1;
    term *= ratio * z;
    sum += term;
    first += k * term;
    second += k * k * term;
    if (term > kLarge) {
      scale += std::log(term);
      sum /= term;
      first /= term;
      second /= term;
      term = 1;
    }
  }
  const double mean = first / sum;
  return {scale + std::log(sum), mean, second / sum - mean * mean};
}

// Newton's method within a bracket: the tilted mean rises with theta.
Tilt solve(const Ratios& law, double n, double p0, double p1, double rho) {
  const double full = std::log(p1 * (1 - p0) / (p0 * (1 - p1)));
  double low = std::min(0.0, full);
  double high = std::max(0.0, full);
  double theta = full / (1 + (n - 1) * rho);
  for (int i = 0; i < 60; ++i) {
    const Cumulants at = cumulants(law, theta);
    const double excess = at.mean - n * p1;
    (excess < 0 ? low : high) = theta;
    double next = theta - excess / at.variance;
    if (!(next > low && next < high)) next = (low + high) / 2;
    // The steps' lengths square: what comes after this one is below rounding.
    const bool settled = std::abs(next - theta) <= 1e-7 * std::abs(full);
    theta = next;
    if (settled) break;
  }
  return {theta, cumulants(law, theta).log_mgf};
}

Tilt binomial_tilt(double n, double p0, double p1) {
  return {std::log(p1 * (1 - p0) / (p0 * (1 - p1))), n * std::log((1 - p0) / (1 - p1))};
}

}  // namespace

Tilt tilt(std::int64_t n, double p0, double p1, double rho) {
  if (n <= 0 || p1 == p0) return {};
  // One request has nothing to be correlated with.
  if (rho <= kNoCorrelation || n == 1) return binomial_tilt(double(n), p0, p1);
  return solve(ratios(n, p0, rho), double(n), p0, p1, rho);
}

TiltTable::TiltTable(double p0, double rho, std::span<const double> alternatives)
    : p0_(p0), rho_(rho), count_(std::min(alternatives.size(), kMostAlternatives)) {
  std::copy_n(alternatives.begin(), count_, alternatives_.begin());
}

const TiltTable::Row& TiltTable::at(std::int64_t n) {
  const auto place = static_cast<std::size_t>(std::clamp<std::int64_t>(n, 0, kMostCounts));
  if (place >= place_.size()) place_.resize(place + 1, kUnknown);
  if (place_[place] == kUnknown) {
    Row row;
    const bool plain = rho_ <= kNoCorrelation || place < 2;
    const Ratios law = plain ? Ratios{} : ratios(std::int64_t(place), p0_, rho_);
    for (std::size_t j = 0; j < count_ && place > 0; ++j) {
      const double p1 = alternatives_[j];
      if (p1 == p0_) continue;
      const Tilt tilt =
          plain ? binomial_tilt(double(place), p0_, p1) : solve(law, double(place), p0_, p1, rho_);
      row.theta[j] = tilt.theta;
      row.log_mgf[j] = tilt.log_mgf;
    }
    rows_.push_back(row);
    place_[place] = static_cast<std::uint16_t>(rows_.size());
  }
  return rows_[place_[place] - 1U];
}

TiltTable::Counts TiltTable::scaled(std::int64_t n, std::int64_t k) {
  if (n <= kMostCounts) return {n, double(k)};
  return {kMostCounts, std::round(double(k) * (double(kMostCounts) / double(n)))};
}

std::vector<double> geometric_odds(double first, double last, std::size_t count) {
  const double from = std::log(first / (1 - first));
  const double to = std::log(last / (1 - last));
  std::vector<double> shares;
  for (std::size_t j = 0; j < count; ++j) {
    const double odds = std::exp(from + (to - from) * double(j) / double(count - 1));
    shares.push_back(odds / (1 + odds));
  }
  return shares;
}

std::vector<double> rise_alternatives(double p0) {
  const double first = std::min(0.8, p0 + std::max(p0 / 2, 0.01));
  if (first <= p0) return geometric_odds((1 + p0) / 2, (99 + p0) / 100, 5);
  return geometric_odds(first, p0 < 0.45 ? 0.9 : 0.95, 5);
}

}  // namespace outcomed
