#include "surge_watch.h"

#include <cstdlib>

namespace outcomed::bench {

std::shared_ptr<const SurgeDetector> surge_rule(std::int64_t false_page_minutes, double min_share) {
  SurgeParams params;
  params.false_page_every = std::chrono::minutes(false_page_minutes);
  params.min_share = min_share;
  return std::make_shared<SurgeDetector>(
      params,
      SignalWords{.unit = "requests", .outcome = "failed", .step = std::chrono::minutes(1)});
}

std::unique_ptr<Watch> SurgeWatch::copy() const {
  Writer writer;
  fold_->save(writer);
  auto other = std::make_unique<SurgeWatch>(detector_);
  Reader reader(writer.bytes());
  if (!other->fold_->load(reader)) std::abort();  // Its own bytes.
  other->at_ = at_;
  return other;
}

}  // namespace outcomed::bench
