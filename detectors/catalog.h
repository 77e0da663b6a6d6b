#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "detectors/detector.h"

namespace outcomed {

struct DetectorEntry {
  std::string_view kind;
  std::string_view summary;
  // Shows the settings to the visitor, then builds from what they became. Broken rules over
  // several settings go to visitor.problem(); the result is built all the same.
  std::unique_ptr<Detector> (*make)(ParamVisitor& visitor, const SignalWords& words);
};

// Every detector there is, in the order the documentation lists them.
std::span<const DetectorEntry> detector_catalog();
const DetectorEntry* find_detector(std::string_view kind);

}  // namespace outcomed
