// One counter series: where it stood, and how each new sample adds to it.
#pragma once

#include <cstdint>
#include <functional>
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

struct SampleFaults {
  std::uint64_t late = 0;        // Older than a sample already read: its rise is in the next one.
  std::uint64_t not_finite = 0;  // +Inf or −Inf: skipped. (NaN means stale and is no fault.)
  std::uint64_t negative = 0;    // No counter is negative: skipped.
};

// Walks the samples of one series in time order and moves its memory. Samples up to `begin` only
// tell where it stood. on_rise gets every rise after `begin`; on_first every first sight after
// `begin` with a value above 0.
//   same process, value not lower : rise from the last value
//   same process, value lower     : the counter was reset: rise from 0
//   process not seen before       : first sight
void walk_series(std::span<const Sample> samples, std::int64_t begin, const Target& target,
                 SeriesMemory& memory, SampleFaults& faults,
                 const std::function<void(const Rise&)>& on_rise,
                 const std::function<void(const FirstSight&)>& on_first);

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
