// How long a range one fetch asks for. A long catch-up is read in pieces: each as long as the
// memory allows, since every request costs the server anew, and what that is only the fetches
// before tell.
#pragma once

#include <cstdint>

#include "queries/source.h"

namespace outcomed {

class ChunkLength {
 public:
  // Also the length of the first piece: long enough for sources to read it as a backfill.
  static constexpr Duration kShortest = std::chrono::minutes(20);
  static constexpr Duration kLongest = std::chrono::hours(24 * 7);
  // A fetch without a single event tells little about the next one.
  static constexpr int kFastestGrowth = 8;

  // `values`: about how many samples and counts (16 bytes each) one fetch may bring.
  explicit ChunkLength(std::int64_t values) : values_(values) {}

  // A multiple of `step`, at least one.
  [[nodiscard]] Duration next(Duration step) const;
  void learn(const Fetch& fetch);

 private:
  std::int64_t values_;
  Duration length_ = kShortest;
};

}  // namespace outcomed
