// Buckets of one step as bytes for the store: only cells that aren't zero, ids as differences.
#pragma once

#include "alerts/store.h"
#include "queries/source.h"

namespace outcomed {

BucketRow pack(const SignalBatch& batch, std::size_t step, const std::string& signal);

// One step back as a batch. False when the bytes are not what pack() wrote or name a cell that is
// not below `cells`.
bool unpack(const BucketRow& row, std::size_t cells, SignalBatch& batch);

}  // namespace outcomed
