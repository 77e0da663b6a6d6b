#include "detectors/catalog.h"

#include <algorithm>

#include "detectors/share/share.h"

namespace outcomed {
namespace {

std::unique_ptr<Detector> make_share(ParamVisitor& visitor, const SignalWords& words) {
  ShareParams params;
  params.visit(visitor, words);
  return std::make_unique<ShareDetector>(std::move(params), words);
}

constexpr DetectorEntry kCatalog[] = {
    {ShareDetector::kKind, ShareDetector::kSummary, make_share},
};

}  // namespace

std::span<const DetectorEntry> detector_catalog() { return kCatalog; }

const DetectorEntry* find_detector(std::string_view kind) {
  const auto found = std::ranges::find(kCatalog, kind, &DetectorEntry::kind);
  return found == std::end(kCatalog) ? nullptr : &*found;
}

}  // namespace outcomed
