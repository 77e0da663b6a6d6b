// Prometheus' XOR chunks (the Gorilla encoding): the form in which its storage keeps floats.
#pragma once

#include <string_view>
#include <vector>

#include "queries/base/result.h"
#include "queries/counters/samples.h"

namespace outcomed {

// Replaces `out` by the samples of one chunk (at most 65,535), in time order. Format: two bytes
// big-endian count, then a bit stream; see tsdb/chunkenc/xor.go in Prometheus. Stale markers come
// out as NaN. Error: corrupt, for a chunk cut off, times that don't rise, or impossible bit widths;
// `out` then means nothing.
Status decode_xor_chunk(std::string_view chunk, std::vector<Sample>& out);

}  // namespace outcomed
