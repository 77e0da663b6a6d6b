// Counts of several signals over a range, gathered piece by piece while new cells turn up.
#pragma once

#include <cstdint>
#include <vector>

#include "queries/source.h"

namespace outcomed {

// Of one signal.
class PieceCounts {
 public:
  explicit PieceCounts(std::size_t steps = 0) : steps_(steps), coverage_(steps) {}

  // False where a sum doesn't fit: nothing was added then.
  bool add(CellId cell, std::size_t step, std::int64_t n, std::int64_t k) {
    const std::size_t at = cell * steps_ + step;
    if (at >= n_.size()) {
      n_.resize((cell + 1) * steps_);
      k_.resize((cell + 1) * steps_);
    }
    std::int64_t sum_n = 0;
    std::int64_t sum_k = 0;
    if (__builtin_add_overflow(n_[at], n, &sum_n) || __builtin_add_overflow(k_[at], k, &sum_k)) {
      return false;
    }
    n_[at] = sum_n;
    k_[at] = sum_k;
    return true;
  }
  // The numbers of a step are wrong or unknown.
  void spoil(std::size_t step) { coverage_[step] = Coverage::failed; }

  // Consecutive pieces as one batch.
  static SignalBatch join(const std::vector<PieceCounts>& pieces, TimeRange range, Duration step,
                          std::size_t cells) {
    SignalBatch batch;
    batch.range = range;
    batch.step = step;
    for (const PieceCounts& piece : pieces) {
      batch.coverage.insert(batch.coverage.end(), piece.coverage_.begin(), piece.coverage_.end());
    }
    const std::size_t steps = batch.steps();
    batch.n.assign(cells * steps, 0);
    batch.k.assign(cells * steps, 0);
    std::size_t offset = 0;
    for (const PieceCounts& piece : pieces) {
      for (std::size_t at = 0; at < piece.n_.size(); ++at) {
        const std::size_t to = at / piece.steps_ * steps + offset + at % piece.steps_;
        batch.n[to] = piece.n_[at];
        batch.k[to] = piece.k_[at];
      }
      offset += piece.steps_;
    }
    return batch;
  }

 private:
  std::size_t steps_;
  std::vector<Coverage> coverage_;
  std::vector<std::int64_t> n_;
  std::vector<std::int64_t> k_;
};

}  // namespace outcomed
