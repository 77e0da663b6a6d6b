// Reading by range selectors: what every server of the query API can do.
#pragma once

#include <vector>

#include "queries/base/result.h"
#include "queries/base/time.h"
#include "queries/counters/samples.h"
#include "queries/prometheus/api.h"
#include "queries/prometheus/question.h"

namespace outcomed {

// Asks all questions for the samples of (span.begin, span.end], in consecutive pieces of time that
// begin with `piece` long ones. Pieces are halved when the server or max_bytes finds an answer too
// large, down to ten seconds, and grow while answers are small. Servers differ in whether a sample
// at the very beginning of a piece belongs to it: it may come twice, or from before the span.
Status read_ranges(PrometheusApi& api, const std::vector<Question>& questions, TimeRange span,
                   Duration piece, SampleSink& sink);

}  // namespace outcomed
