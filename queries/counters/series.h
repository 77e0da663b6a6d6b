// One counter series: where it stood, and how each new sample adds to it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "queries/base/time.h"
#include "queries/counters/samples.h"
#include "queries/counters/target.h"

namespace outcomed {

// Where a series stood in one process.
struct Stand {
  std::uint32_t process = 0;
  std::int64_t at = 0;
  double value = 0;
};

struct SeriesMemory {
  std::int64_t last_at = 0;   // Newest sample of any process, stale ones included.
  std::vector<Stand> stands;  // One for each process, newest last; usually one.
};

// A rise of a counter from one value to another, found at the sample taken at `at`. Values are
// those of the counter itself, so that a divisor can be applied without losing a rest.
struct Rise {
  std::int64_t since = 0;  // The sample before.
  std::int64_t at = 0;
  double from = 0;
  double to = 0;
};

// The first sight of a series in a process. Whether it counts from 0 depends on what else is known.
struct FirstSight {
  std::int64_t at = 0;
  std::uint32_t process = 0;
  double value = 0;
};

// 2^53: a double above it no longer tells one request from the next.
inline constexpr double kMostCounted = 9007199254740992.0;

// False for NaN and ±Inf too.
constexpr bool is_counter_value(double value) { return value >= 0 && value <= kMostCounted; }

struct SampleFaults {
  std::uint64_t late = 0;        // Older than a sample already read: its rise is in the next one.
  std::uint64_t not_finite = 0;  // +Inf or −Inf: skipped. (NaN means stale and is no fault.)
  std::uint64_t negative = 0;    // No counter is negative: skipped.
  std::uint64_t too_large = 0;   // Above kMostCounted: skipped.
};

// Where a series stands in `process`, made where it is new there (`fresh`).
struct StandFound {
  Stand* stand = nullptr;
  bool fresh = false;
};
StandFound stand_in(std::uint32_t process, const Sample& sample, const Target& target,
                    SeriesMemory& memory);

// Whether a sample tells anything: it is newer than all before, and a number that a counter can
// have.
inline bool is_usable(const Sample& sample, std::int64_t begin, SeriesMemory& memory,
                      SampleFaults& faults) {
  if (sample.at_ms <= memory.last_at) {
    if (sample.at_ms < memory.last_at && sample.at_ms > begin) ++faults.late;
    return false;
  }
  memory.last_at = sample.at_ms;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (is_counter_value(sample.value)) return true;
  if (sample.value == kInfinity || sample.value == -kInfinity) {
    ++faults.not_finite;
  } else if (sample.value < 0) {
    ++faults.negative;
  } else if (sample.value > kMostCounted) {
    ++faults.too_large;
  }
  return false;
}

// Walks the samples of one series in time order and moves its memory. Samples up to `begin` only
// tell where it stood. on_rise gets every rise after `begin`; on_first every first sight after
// `begin` with a value above 0.
//   same process, value not lower : rise from the last value
//   same process, value lower     : the counter was reset: rise from 0
//   process not seen before       : first sight
// A template, since a backfill runs it millions of times a second.
template <class OnRise, class OnFirst>
void walk_series(std::span<const Sample> samples, std::int64_t begin, const Target& target,
                 SeriesMemory& memory, SampleFaults& faults, const OnRise& on_rise,
                 const OnFirst& on_first) {
  std::size_t cursor = 0;
  Stand* stand = nullptr;
  for (const Sample& sample : samples) {
    if (!is_usable(sample, begin, memory, faults)) continue;
    const std::uint32_t process = target.process_at(sample.at_ms, cursor);
    const bool counts = sample.at_ms > begin;
    if (stand == nullptr || stand->process != process) {
      const StandFound found = stand_in(process, sample, target, memory);
      stand = found.stand;
      if (found.fresh) {
        if (counts && sample.value > 0) on_first(FirstSight{sample.at_ms, process, sample.value});
        continue;
      }
    }
    const double from = sample.value < stand->value ? 0 : stand->value;
    if (counts && sample.value > from) on_rise(Rise{stand->at, sample.at_ms, from, sample.value});
    stand->at = sample.at_ms;
    stand->value = sample.value;
  }
}

// What is known about the birth of a series when it is seen for the first time in a process.
struct BirthEvidence {
  std::optional<double> created;  // `_created` of this series in this process, Unix seconds.
  std::int64_t watch_start = 0;   // First scrape of anything by this source.
  Duration limit{};  // No rise that may have lasted longer than this is booked at once.
};

enum class Birth : std::uint8_t {
  proved,    // A start or creation time lies after the watch began.
  assumed,   // The target was seen before without the series: born since.
  unknown,   // It may be older than the watch: counts from here on.
  too_long,  // Born since, but within a span too long to be booked into one step.
};

// Whether everything a series shows at its first sight happened since the last look.
Birth judge_birth(const FirstSight& sight, const Target& target, const BirthEvidence& evidence);

}  // namespace outcomed
