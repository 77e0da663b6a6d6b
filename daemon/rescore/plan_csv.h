// A sampling plan as CSV, with the columns that a re-scoring report can be made from once a column
// of new scores is added.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "detectors/stats/sampling_plan.h"

namespace outcomed {

// "feed,item,old,bin,weight".
std::string plan_csv(const SamplingPlan& plan, std::span<const ScoredItem> items);

// How many of how many items of each bin, and which parts of the stream the plan can't speak for.
std::vector<std::string> plan_notes(const SamplingPlan& plan);

}  // namespace outcomed
