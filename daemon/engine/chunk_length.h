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
  static constexpr Duration kShortest = std::chrono::minutes(16);
  // What brings nothing tells little about what comes next: growth has limits.
  static constexpr std::int64_t kMostSteps = 8'192;
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
