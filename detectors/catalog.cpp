#include "detectors/catalog.h"

#include <algorithm>

#include "detectors/absorption/absorption.h"
#include "detectors/baseline/baseline.h"
#include "detectors/price/price.h"
#include "detectors/scores/scores.h"
#include "detectors/share/share.h"
#include "detectors/surge/surge.h"

namespace outcomed {
namespace {

template <class Params, class Kind>
std::unique_ptr<Detector> make(ParamVisitor& visitor, const SignalWords& words) {
  Params params;
  params.visit(visitor, words);
  return std::make_unique<Kind>(std::move(params), words);
}

template <class Params, class Kind>
constexpr DetectorEntry entry() {
  return {Kind::kKind, Kind::kSummary, make<Params, Kind>};
}

constexpr DetectorEntry kCatalog[] = {
    entry<ShareParams, ShareDetector>(),           entry<SurgeParams, SurgeDetector>(),
    entry<BaselineParams, BaselineDetector>(),     entry<ScoresParams, ScoresDetector>(),
    entry<AbsorptionParams, AbsorptionDetector>(), entry<PriceParams, PriceDetector>(),
};

}  // namespace

std::span<const DetectorEntry> detector_catalog() { return kCatalog; }

const DetectorEntry* find_detector(std::string_view kind) {
  const auto found = std::ranges::find(kCatalog, kind, &DetectorEntry::kind);
  return found == std::end(kCatalog) ? nullptr : &*found;
}

}  // namespace outcomed
