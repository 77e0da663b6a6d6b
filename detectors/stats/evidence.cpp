#include "detectors/stats/evidence.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "detectors/stats/binomial.h"

namespace outcomed {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

double log_mean_exp(const Eigen::ArrayXd& x) { return log_sum_exp(x) - std::log(double(x.size())); }

}  // namespace

double log1p_exp(double a) {
  return a > 0 ? a + std::log1p(std::exp(-a)) : std::log1p(std::exp(a));
}

double shiryaev_roberts(double log_m, double x, double w) {
  const double log_w = w == 1 ? 0 : std::log(w);
  return log_w + log1p_exp(log_m - log_w) + x;
}

double cusum(double c, double x) { return std::max(c, 0.0) + x; }

EvidenceMixture::EvidenceMixture(Eigen::Index components)
    : log_m_(components), c_(components), since_(components) {
  reset();
}

void EvidenceMixture::reset() {
  log_m_.setConstant(kNothing);
  c_.setZero();
  since_.setConstant(-1);
}

void EvidenceMixture::push(std::span<const double> x, double cap, std::int64_t step, double w) {
  if (static_cast<Eigen::Index>(x.size()) != components()) return;
  for (Eigen::Index j = 0; j < components(); ++j) {
    const double gain = std::min(x[static_cast<std::size_t>(j)], cap);
    log_m_(j) = shiryaev_roberts(log_m_(j), gain, w);
    if (c_(j) <= 0) since_(j) = step;
    c_(j) = cusum(c_(j), gain);
  }
}

double EvidenceMixture::log_sr() const { return log_mean_exp(log_m_); }

double EvidenceMixture::log_cusum() const { return log_mean_exp(c_); }

std::int64_t EvidenceMixture::onset() const {
  Eigen::Index best = 0;
  c_.maxCoeff(&best);
  return since_(best);
}

void EvidenceMixture::save(Writer& writer) const {
  writer.u64(static_cast<std::uint64_t>(components()));
  for (Eigen::Index j = 0; j < components(); ++j) {
    writer.f64(log_m_(j));
    writer.f64(c_(j));
    writer.i64(since_(j));
  }
}

bool EvidenceMixture::load(Reader& reader) {
  if (reader.u64() != static_cast<std::uint64_t>(components())) return false;
  for (Eigen::Index j = 0; j < components(); ++j) {
    log_m_(j) = reader.f64();
    c_(j) = reader.f64();
    since_(j) = reader.i64();
  }
  return reader.ok();
}

}  // namespace outcomed
