#include "detectors/detector.h"

namespace outcomed {

std::size_t Fold::advance_to_breach(const BucketRun& run, std::size_t from) {
  for (std::size_t step = from; step < run.size(); ++step) {
    advance(run, step);
    if (breached()) return step + 1 - from;
  }
  return run.size() - from;
}

void advance(Fold& fold, const Bucket& bucket) {
  fold.advance(
      {bucket.start, bucket.length, {&bucket.n, 1}, {&bucket.k, 1}, {&bucket.coverage, 1}, {}}, 0);
}

}  // namespace outcomed
