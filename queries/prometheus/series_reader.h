// The `result` of a query reply: series and samples. For query_reply.cpp only.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "queries/base/result.h"
#include "queries/counters/samples.h"
#include "queries/prometheus/query_reply.h"
#include "queries/prometheus/sample_text.h"
#include "queries/prometheus/simdjson_codes.h"

namespace outcomed {

std::string_view name_of(ReplyType type);
Error broken(std::string_view what);
Error broken(std::string_view what, simdjson::error_code code);

class SeriesReader {
 public:
  // Counts what it reads in `info`.
  SeriesReader(SampleSink& sink, ReplyType expected, LabelParser& labels, ReplyInfo& info)
      : sink_(sink), expected_(expected), label_parser_(labels), info_(info) {}

  Status read_result(simdjson::ondemand::value value);

 private:
  using Value = simdjson::ondemand::value;
  using Array = simdjson::ondemand::array;
  using Object = simdjson::ondemand::object;

  Status read_element(Value value);
  Status read_series(Object object);
  Status open(Object metric);
  Status read_points(Value value);
  Status read_point(Array pair);
  void flush();

  SampleSink& sink_;
  ReplyType expected_;
  LabelParser& label_parser_;
  ReplyInfo& info_;

  // The series at hand.
  std::string_view key_;
  SeriesId id_ = 0;
  std::array<Sample, 256> points_;
  std::size_t point_count_ = 0;
  std::vector<bool> seen_;  // By series id.
};

}  // namespace outcomed
