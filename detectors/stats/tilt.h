// The evidence of one step against the worst normal: an exponential tilt.
//
// Worst normal: k of n ~ BB(n, p0, rho) (binomial.h). For an alternative share p1, theta solves
//   d/dtheta log M(theta) = n p1,   M(theta) = E[e^(theta k)],
// and the log evidence of a step is x = theta k - log M(theta). For rho = 0 that is the binomial
// log likelihood ratio. E[e^x] <= 1 for every law with share <= p0 and correlation <= rho (>= p0
// for drops, p1 < p0): e^(theta k) is monotone and convex in k and BB(n, p, r) grows with p and r
// in the increasing convex order. The bound needs log M to be exact for the theta in use; theta
// itself only decides how fast evidence grows.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace outcomed {

struct Tilt {
  double theta = 0;
  double log_mgf = 0;

  [[nodiscard]] double log_evidence(double k) const { return theta * k - log_mgf; }
};

// n >= 0; 0 < p0, p1 < 1; 0 <= rho < 1. Exact for every n, in time linear in n; {0, 0} for n = 0
// and for p1 = p0: no evidence.
Tilt tilt(std::int64_t n, double p0, double p1, double rho);

// Tilts of up to kMostAlternatives alternatives by n, made when first asked for. What at(n) gives
// depends on the settings and n alone, never on what was asked before. Not for several threads.
class TiltTable {
 public:
  static constexpr std::size_t kMostAlternatives = 8;
  // Steps with more are judged as if they had this many, k scaled with them: beyond about 1 / rho
  // more requests of one step say nothing more.
  static constexpr std::int64_t kMostCounts = 700;

  struct Row {
    std::array<double, kMostAlternatives> theta{};
    std::array<double, kMostAlternatives> log_mgf{};
  };
  struct Counts {
    std::int64_t n = 0;
    double k = 0;
  };

  TiltTable() = default;
  // Takes the first kMostAlternatives alternatives.
  TiltTable(double p0, double rho, std::span<const double> alternatives);

  // 0 <= n <= kMostCounts. The row is valid until the next call.
  const Row& at(std::int64_t n);
  // 0 <= k <= n, any n; k rounded to a whole number.
  [[nodiscard]] static Counts scaled(std::int64_t n, std::int64_t k);

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] double p0() const { return p0_; }
  [[nodiscard]] double rho() const { return rho_; }
  [[nodiscard]] double alternative(std::size_t j) const { return alternatives_[j]; }

 private:
  static constexpr std::uint16_t kUnknown = 0;

  double p0_ = 0.5;
  double rho_ = 0;
  std::size_t count_ = 0;
  std::array<double, kMostAlternatives> alternatives_{};
  std::vector<std::uint16_t> place_;  // By n: 1 + number of the row.
  std::vector<Row> rows_;
};

// `count` shares from `first` to `last`, their odds in geometric progression; count >= 2.
std::vector<double> geometric_odds(double first, double last, std::size_t count);
// The alternatives of a rise above p0 (five of them): from p0 + max(p0 / 2, 1 point), at most 0.8,
// to 0.9 (0.95 for p0 >= 0.45). Above p0 = 0.8: from half-way to 1. 0 < p0 < 1.
std::vector<double> rise_alternatives(double p0);

}  // namespace outcomed
