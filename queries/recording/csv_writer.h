// Buckets as CSV, in the form that a recording is read from.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "queries/signal.h"
#include "queries/source.h"

namespace outcomed {

// One batch of one signal, with the label sets of its cells (Source::cells).
struct BucketTable {
  const SignalPlan* plan = nullptr;
  const std::vector<Labels>* cells = nullptr;
  const SignalBatch* batch = nullptr;
};

// "signal,start,seconds,n,k" and the labels.
void write_buckets_csv_header(std::ostream& out, const std::vector<std::string>& labels);

// One row for each step and group of `labels`; a failure label of the signal among them splits k
// and repeats n. Groups without requests and failures are left out, but a step that was seen has at
// least one row. Steps that are not complete are left out: returns how many. Starts are RFC 3339,
// steps whole seconds. What CsvRecording reads back equals the batch, summed over the labels left
// out.
std::size_t write_buckets_csv(std::ostream& out, const std::vector<std::string>& labels,
                              const BucketTable& table);

}  // namespace outcomed
