// What happened in one group during one step.
#pragma once

#include <cstdint>

#include "queries/base/time.h"

namespace outcomed {

// What is known of a step.
enum class Coverage : std::uint8_t {
  complete,  // The target was seen: n and k are all there was, zeros included.
  missing,   // Nobody looked (source down, scrape gap): n and k mean nothing.
  partial,   // The source itself says that data is missing.
  failed,    // The source's numbers can't be trusted (flapping counters, wrong type).
};

// k of n during [start, start + length).
struct Bucket {
  Timestamp start;
  Duration length{};
  std::int64_t n = 0;
  std::int64_t k = 0;
  Coverage coverage = Coverage::complete;

  [[nodiscard]] Timestamp end() const { return start + length; }
  friend bool operator==(const Bucket&, const Bucket&) = default;
};

}  // namespace outcomed
