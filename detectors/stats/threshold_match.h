// The threshold of the new judge that lets the same share pass as the old one did.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "detectors/stats/decisions.h"

namespace outcomed {

enum class MatchVerdict {
  exact,       // A threshold gives the old share.
  bracketed,   // The share lies between those of two neighbouring scores; neither gives it.
  impossible,  // Even the highest score lets more pass: the next stricter threshold lets none.
};
std::string_view to_string(MatchVerdict verdict);

struct AttainableShare {
  std::optional<double> threshold;  // Nothing: above the highest score, where no item passes.
  ShareEstimate share;              // Of the new scores at or above it.
};

struct ThresholdMatch {
  MatchVerdict verdict = MatchVerdict::exact;
  // One where exact; else the strictest threshold that lets at least the old share pass, and the
  // next stricter one.
  std::vector<AttainableShare> thresholds;
  // f: the share of the items tied at the first threshold that would have to pass, beside all that
  // pass the second, to give the old share. 1 where exact.
  double tie_fraction = 1;
};

// Quantile matching on the scores that occur; thresholds between two scores do the same as the
// upper one. Nothing for an empty table.
std::optional<ThresholdMatch> match_threshold(const PairTable& table, double old_threshold);

}  // namespace outcomed
