// How rare something is, and what of a day was seen, as people read it.
#pragma once

#include <cstdint>
#include <string>

#include "detectors/verdict.h"

namespace outcomed {

// "once in 4,000 days", two digits exact; from 10,000 days in years ("once in 30 years"), at most
// "less than once in 1,000 years"; below 1.5 days "every day". NaN and what is not above 0 count
// as every day.
std::string format_once_in(double days);

// "4,000"; for counts in sentences.
std::string format_count(double value);

// "1 day", "3 days".
std::string days_text(std::int64_t days);
// Why a day ("2026-11-30") was not judged, by its judgement and the share of it that was seen;
// empty for judgements that are not about seeing.
std::string why_unseen(Judgement judgement, const std::string& day, double seen);

}  // namespace outcomed
