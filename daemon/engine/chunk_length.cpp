#include "daemon/engine/chunk_length.h"

#include <algorithm>

namespace outcomed {

Duration ChunkLength::next(Duration step) const {
  return step * std::max<std::int64_t>(1, length_ / step);
}

void ChunkLength::learn(const Fetch& fetch) {
  if (fetch.batches.empty()) return;
  auto brought = static_cast<std::int64_t>(fetch.samples);
  for (const SignalBatch& batch : fetch.batches) {
    brought += static_cast<std::int64_t>(batch.n.size());
  }
  const SignalBatch& batch = fetch.batches.front();
  // In double: milliseconds times millions may not fit.
  const double fitting = static_cast<double>(batch.range.length().count()) *
                         static_cast<double>(values_) /
                         static_cast<double>(std::max<std::int64_t>(brought, 1));
  const Duration longest =
      std::max(kShortest, std::min(batch.step * kMostSteps, length_ * kFastestGrowth));
  length_ = std::clamp(
      Duration(static_cast<std::int64_t>(std::min(fitting, static_cast<double>(longest.count())))),
      kShortest, longest);
}

}  // namespace outcomed
