// What is normal for one series: sums of hours over the learning window, and what they teach.
#pragma once

#include <cstdint>
#include <vector>

#include "detectors/stats/ceiling.h"
#include "detectors/surge/settings.h"
#include "queries/base/codec.h"

namespace outcomed {

// Learned numbers.
struct SurgeNormal {
  bool known = false;              // Enough was seen; otherwise the numbers are the prior.
  bool filter = false;             // Enough for the filter too.
  double share = 0;                // Failures of all requests of the window.
  double ceiling = 0.5;            // The worst normal share of an hour, min_share included.
  double clipped_ceiling = 0.5;    // The same of clipped counts (clipped()).
  double wobble = 0.02;            // Correlation of the requests of one step, of clipped counts.
  double centre = 0.5;             // Of the filter's rates.
  double sigma = 0.15;             // Of their logarithm.
  double memory = 0;               // Correlation of the rates of neighbouring blocks.
  double per_step = 0;             // Requests.
  std::int64_t merged_steps = 1;   // Buckets that make one step of the detector.
  std::int64_t merged_blocks = 1;  // Hours that make one block.
  std::int64_t requests = 0;
  std::int64_t hours = 0;  // Blocks with known counts, of the window's.
  double fill = 0;         // The same as a part of the window.

  // Failures of a step as the static detector counts them: at most as many as hardly any step has
  // at the ceiling, n p + 3 √(n p) + 1. One burst of retries is then a bad step and no more,
  // neither for what is learned nor for what is judged, and failures that are spread out stand out
  // from it. Counts that are never above the true ones keep every promise that the true ones would.
  [[nodiscard]] double clipped(double n, double k) const;

  void save(Writer& writer) const;
  void load(Reader& reader);
  friend bool operator==(const SurgeNormal&, const SurgeNormal&) = default;
};

// Hours of the learning window. While something may be wrong (`hold`) closed hours wait; they
// become normal when that turns out to be nothing, and are barred when it was an incident. Should
// the window hold nothing but barred and waiting hours, they are what is normal now.
class NormalHours {
 public:
  explicit NormalHours(const SurgeSettings& settings);

  // What a step is taken for.
  enum class Doubt : std::uint8_t { none, waits, incident };
  // One step of the detector, k of n and the clipped k; earlier ones than the newest count to its
  // hour. True when that closed an hour; `doubt` is what the hour that it closes ends in, and the
  // new step.
  bool add(std::int64_t start_ms, double n, double k, double clipped, Doubt doubt);
  // The waiting hours are normal; or, with the open one, part of an incident.
  void release();
  void bar();
  [[nodiscard]] SurgeNormal learn() const;
  [[nodiscard]] bool empty() const;
  // The share of the last learning, for the hours that close from now on.
  void set_share(double share) { share_ = share; }

  void save(Writer& writer) const;
  bool load(Reader& reader);

 private:
  enum State : std::uint32_t { kAbsent, kClean, kWaiting, kBarred };
  struct Hour {
    std::uint32_t n = 0;
    std::uint32_t k : 30 = 0;
    std::uint32_t state : 2 = kAbsent;
    std::uint32_t clipped = 0;
  };
  struct Blocks;

  bool turn(std::int64_t start_ms, Doubt doubt);
  void close(Doubt doubt);
  void clear_until(std::int64_t number);
  WobbleSums& day_of(std::int64_t number);
  void forget_days(std::int64_t day);
  [[nodiscard]] Hour& slot(std::int64_t number) {
    return hours_[static_cast<std::size_t>(number) % hours_.size()];
  }
  [[nodiscard]] Blocks blocks(std::int64_t merged, bool all) const;
  void learn_steps(SurgeNormal& normal) const;
  [[nodiscard]] double ceiling(const SurgeNormal& normal, const BlockMoments& moments) const;
  void learn_ceilings(SurgeNormal& normal, const Blocks& blocks) const;
  void learn_filter(SurgeNormal& normal, const Blocks& blocks) const;

  const SurgeSettings* settings_;
  std::vector<Hour> hours_;
  std::vector<WobbleSums> days_;
  std::int64_t number_ = -1;  // Of the open hour, since the epoch; -1: none yet.
  std::int64_t day_ = -1;     // Of the newest entry of days_.
  bool seen_ = false;         // The open hour has known steps.
  bool barred_ = false;       // The open hour holds part of an incident.
  double open_k_ = 0;
  StepSums open_;       // Of clipped counts, as days_ and waiting_.
  WobbleSums waiting_;  // Of the waiting hours.
  std::int64_t waiting_hours_ = 0;
  double share_ = 0;
};

}  // namespace outcomed
