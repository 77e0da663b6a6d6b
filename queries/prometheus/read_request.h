// The question of a remote read: a snappy-compressed prometheus.ReadRequest (prompb/remote.proto).
#pragma once

#include <string>
#include <vector>

#include "queries/base/matcher.h"
#include "queries/prometheus/span.h"

namespace outcomed {

struct ReadQuery {
  SampleSpan span;
  Matchers matchers;  // "__name__" among them.
};

// The compressed body of a request for all queries; streamed chunks are asked for.
std::string remote_read_request(const std::vector<ReadQuery>& queries);

}  // namespace outcomed
