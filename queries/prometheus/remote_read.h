// Prometheus' remote read: the cheapest way to many raw samples, one to two bytes each.
// Question: read_request.h. Answer: frames of prometheus.ChunkedReadResponse (STREAMED_XOR_CHUNKS,
// each guarded by a CRC-32C), or from old servers one snappy-compressed prometheus.ReadResponse
// (SAMPLES). Protocol: prompb/remote.proto and types.proto in Prometheus.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "queries/base/labels.h"
#include "queries/base/result.h"
#include "queries/counters/samples.h"
#include "queries/prometheus/span.h"

namespace outcomed {

struct ReadTotals {
  std::uint64_t series = 0;  // A series that comes in several frames counts in each.
  std::uint64_t chunks = 0;
  std::uint64_t samples = 0;  // Appended: those inside the span.
};

// Takes the body of an answer piece by piece, as it arrives, in pieces of any size. Series keys are
// the raw bytes of the label messages. Errors, after which the sink may hold a part:
//   corrupt      a frame, checksum, message or chunk is broken, or the body ends inside one
//   unsupported  a chunk that holds no floats (native histograms); the message names the series
class RemoteReadDecoder {
 public:
  // Labels in `external` are taken off each series: remote read adds Prometheus' external_labels,
  // which its query API does not.
  RemoteReadDecoder(SampleSink& sink, SampleSpan span, Labels external = {})
      : sink_(sink), span_(span), external_(std::move(external)) {}

  Status feed(std::string_view piece);
  // `content_type` of the answer tells streamed frames from the one message of older servers.
  Status finish(std::string_view content_type);
  [[nodiscard]] const ReadTotals& totals() const { return totals_; }

 private:
  bool take_frame(std::string_view& from, Status& status);
  Status read_frame(std::string_view message);
  Status read_series(std::string_view message, bool chunked);
  Status read_chunk(std::string_view message);
  Status read_samples_body();
  Status read_sample(std::string_view message);
  Status open();
  [[nodiscard]] Error no_floats() const;
  void append(std::span<const Sample> samples);

  SampleSink& sink_;
  SampleSpan span_;
  Labels external_;
  ReadTotals totals_;
  std::string buffer_;          // What can't be decoded yet.
  bool streamed_ = false;       // A whole frame was good.
  bool waits_for_all_ = false;  // No frame: perhaps the one message of an older server.

  std::string_view raw_labels_;
  SeriesId id_ = 0;
  SeriesId last_id_ = 0;
  std::int64_t newest_ = 0;  // Of the series at hand; chunks of one series may overlap.
  std::vector<Sample> samples_;
};

}  // namespace outcomed
