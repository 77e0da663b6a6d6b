// Has a daily share fallen below its normal level? One direction; for rises the caller counts what
// is left over (n - k). Used by the rule kinds that judge days.
//
// Normal level, from the days before: p = (K + 1/2) / (N + 1); v = sum n_i (1 + (n_i - 1) rho) /
// N^2 and se = sqrt(p (1 - p) v), the error of p itself. rho, the correlation of items of one day:
// by moments (ceiling.h), raised by a number of its own standard errors sqrt(2 B) (1 + n rho) / sum
// (n_i - 1)(1 - n_i / N), since a few weeks tell little about it and too low a rho is what makes
// false alarms; then drawn to a prior of 0.01 that weighs 14 days; at least 0.001. Worst normal:
// BB(n, p0, rho) with p0 = p - 1.64 se, at least 0.6 p, at most 99.5 %. Evidence of a day against
// it: the exponential tilt towards each of several lower shares (see tilt.h). Shiryaev-Roberts sums
// of it decide, CUSUMs tell since when.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "detectors/stats/evidence.h"
#include "queries/base/codec.h"

namespace outcomed {

// k of n items on one local day (days since 1970-01-01); 0 <= k <= n, n > 0.
struct DayCount {
  std::int64_t day = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};

struct NormalLevel {
  double share = 0;     // p, never 0 or 1.
  double rho = 0;       // Raised by one standard error, at most by 0.01: for sums over many days.
  double high_rho = 0;  // Raised by 1.64: for the tail of one day.
  double variance = 0;  // v: of the mean of those days, in units of p (1 - p).
  double n = 0;
  double k = 0;
  std::int64_t days = 0;

  [[nodiscard]] double error() const;        // se
  [[nodiscard]] double worst_share() const;  // p0
};

// Nothing for no days.
std::optional<NormalLevel> normal_level(std::span<const DayCount> days);

// P(K <= k) for n items of a normal day, the error of the level included: BB(n, p, high_rho + v).
double chance_of_at_most(const NormalLevel& level, std::int64_t n, std::int64_t k);

// The sums of one share in one direction.
class LevelWatch {
 public:
  // Which lower shares are tried. `shares`: 0.7, 0.5 and 0.25 of the level, and 1/2 and 1/4 of the
  // worst normal's odds, which is what falls from near 100 % look like. `odds`: 1/2 and 1/8 of
  // them.
  enum class Against { shares, odds };
  static constexpr std::int64_t kNever = INT64_MIN;

  explicit LevelWatch(Against against);

  // One day, judged against a level that was known before it. `weight` among the shares that are
  // watched together: mean 1, known before the day, above 0.
  void take(const NormalLevel& level, const DayCount& today, double weight = 1);
  // Log of the mean of the Shiryaev-Roberts sums; -infinity before the first day.
  [[nodiscard]] double evidence() const { return sums_.log_sr(); }
  // Log of the mean e-value of the last day alone: above 0 it speaks for a change.
  [[nodiscard]] double today() const { return today_; }
  // First day since which some CUSUM was above zero throughout; kNever when none is now. The level
  // must be taken from the days before it, so that a slow fall doesn't teach itself in.
  [[nodiscard]] std::int64_t running_since() const { return running_since_; }
  // The most likely first day of the change: since when the largest CUSUM is above zero.
  [[nodiscard]] std::int64_t onset() const { return sums_.onset(); }
  void reset();

  void save(Writer& writer) const;
  bool load(Reader& reader);

 private:
  Against against_;
  EvidenceMixture sums_;
  double today_ = 0;
  std::int64_t running_since_ = kNever;
};

}  // namespace outcomed
