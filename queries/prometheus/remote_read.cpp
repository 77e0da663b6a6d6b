#include "queries/prometheus/remote_read.h"

#include <fmt/core.h>
#include <snappy.h>

#include <limits>

#include "queries/prometheus/crc32c.h"
#include "queries/prometheus/protobuf.h"
#include "queries/prometheus/sample_text.h"
#include "queries/prometheus/simdjson_codes.h"
#include "queries/prometheus/xor_chunk.h"

namespace outcomed {
namespace {

// Prometheus frames hold 1 MB unless told otherwise; a series is never cut within a chunk.
constexpr std::uint64_t kMaxFrame = std::uint64_t{64} << 20;
constexpr std::size_t kMaxVarint = 10;
constexpr std::size_t kChecksumSize = 4;
// snappy shrinks at most about 21 times; what claims more is no honest body.
constexpr std::size_t kMaxExpansion = 32;
constexpr std::size_t kMaxMessage = std::size_t{512} << 20;
constexpr std::uint64_t kXorEncoding = 1;

Error corrupt(std::string_view what) {
  return {ErrorKind::corrupt, fmt::format("not a remote read answer: {}", what)};
}

std::uint32_t read_checksum(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes.substr(0, kChecksumSize)) {
    value = value << 8 | static_cast<unsigned char>(byte);
  }
  return value;
}

// Reads consecutive Label messages, each with its tag and length in front.
Result<Labels> parse_labels(std::string_view raw, const Labels& external) {
  Labels labels;
  ProtoFields fields(raw);
  while (fields.next()) {
    std::string_view name;
    std::string_view value;
    ProtoFields label(fields.bytes());
    while (label.next()) {
      if (label.is(1, WireType::bytes)) name = label.bytes();
      if (label.is(2, WireType::bytes)) value = label.bytes();
    }
    if (!label.ok() || name.empty() || !simdjson::validate_utf8(name.data(), name.size()) ||
        !simdjson::validate_utf8(value.data(), value.size())) {
      return corrupt("a label is malformed");
    }
    if (external.get(name) == value) continue;
    labels.set(std::string(name), std::string(value));
  }
  if (!fields.ok()) return corrupt("labels are malformed");
  return labels;
}

}  // namespace

Status RemoteReadDecoder::feed(std::string_view piece) {
  Status status = ok();
  if (waits_for_all_) {
    buffer_ += piece;
    return status;
  }
  const bool buffered = !buffer_.empty();
  if (buffered) buffer_ += piece;
  std::string_view rest = buffered ? std::string_view(buffer_) : piece;
  while (take_frame(rest, status)) {
  }
  if (!status) return status;
  if (buffered) {
    buffer_.erase(0, buffer_.size() - rest.size());
  } else {
    buffer_.assign(rest);
  }
  return status;
}

// Frame: varint length, checksum (big-endian), message. False: no whole frame is there, or `status`
// says why it is none.
bool RemoteReadDecoder::take_frame(std::string_view& from, Status& status) {
  if (from.empty() || waits_for_all_) return false;
  std::string_view rest = from;
  std::uint64_t size = 0;
  const bool sized = ProtoFields::read_varint(rest, size);
  if (!sized && from.size() < kMaxVarint) return false;
  const bool plausible = sized && size <= kMaxFrame;
  if (plausible && rest.size() < kChecksumSize + size) return false;
  const std::string_view message =
      plausible ? rest.substr(kChecksumSize, size) : std::string_view();
  if (!plausible || crc32c(message) != read_checksum(rest)) {
    // The very first one may be the beginning of another kind of body: finish() knows.
    if (!streamed_) {
      waits_for_all_ = true;
    } else {
      status =
          corrupt(plausible ? "a frame's checksum is wrong" : "a frame's length is impossible");
    }
    return false;
  }
  streamed_ = true;
  from = rest.substr(kChecksumSize + size);
  status = read_frame(message);
  return status.has_value();
}

Status RemoteReadDecoder::finish(std::string_view content_type) {
  if (buffer_.empty()) return ok();  // An answer without series is empty.
  if (streamed_) return corrupt("it ends inside a frame");
  if (content_type.starts_with("application/x-protobuf")) return read_samples_body();
  if (content_type.starts_with("application/x-streamed-protobuf")) {
    return corrupt("the first frame is cut off or its checksum is wrong");
  }
  return not_json(buffer_, fmt::format("a remote read answer (content type \"{}\")",
                                       excerpt(content_type, 60)));
}

Status RemoteReadDecoder::read_frame(std::string_view message) {
  ProtoFields fields(message);
  while (fields.next()) {
    if (!fields.is(1, WireType::bytes)) continue;
    if (Status read = read_series(fields.bytes(), true); !read) return read;
  }
  return fields.ok() ? ok() : corrupt("a frame is malformed");
}

Status RemoteReadDecoder::read_samples_body() {
  std::size_t size = 0;
  if (!snappy::GetUncompressedLength(buffer_.data(), buffer_.size(), &size) ||
      size > buffer_.size() * kMaxExpansion) {
    return corrupt("it is not compressed with snappy");
  }
  if (size > kMaxMessage) {
    return Error{ErrorKind::too_large,
                 fmt::format("a remote read answer of {} bytes in one message", size)};
  }
  std::string message;
  if (!snappy::Uncompress(buffer_.data(), buffer_.size(), &message)) {
    return corrupt("it is cut off or not compressed with snappy");
  }
  ProtoFields response(message);
  while (response.next()) {
    if (!response.is(1, WireType::bytes)) continue;
    ProtoFields result(response.bytes());
    while (result.next()) {
      if (!result.is(1, WireType::bytes)) continue;
      if (Status read = read_series(result.bytes(), false); !read) return read;
    }
    if (!result.ok()) return corrupt("a result is malformed");
  }
  return response.ok() ? ok() : corrupt("the message is malformed");
}

// TimeSeries {labels = 1, samples = 2, histograms = 4} or ChunkedSeries {labels = 1, chunks = 2}:
// servers write the labels first.
Status RemoteReadDecoder::read_series(std::string_view message, bool chunked) {
  ProtoFields fields(message);
  std::size_t labels_size = 0;
  bool more = fields.next();
  for (; more && fields.is(1, WireType::bytes); more = fields.next()) {
    labels_size = message.size() - fields.rest().size();
  }
  raw_labels_ = message.substr(0, labels_size);
  if (Status status = open(); !status) return status;
  if (!chunked) samples_.clear();
  for (; more; more = fields.next()) {
    Status read = ok();
    if (fields.is(1, WireType::bytes)) return corrupt("labels stand behind samples");
    if (fields.is(2, WireType::bytes)) {
      read = chunked ? read_chunk(fields.bytes()) : read_sample(fields.bytes());
    } else if (!chunked && fields.is(4, WireType::bytes)) {
      return no_floats();
    }
    if (!read) return read;
  }
  if (!fields.ok()) return corrupt("a series is malformed");
  if (!chunked) append(samples_);
  return ok();
}

Status RemoteReadDecoder::open() {
  Status labels_read = ok();
  id_ = sink_.open(raw_labels_, [this, &labels_read] {
    auto labels = parse_labels(raw_labels_, external_);
    if (labels) return *std::move(labels);
    labels_read = std::move(labels).error();
    return Labels();
  });
  // A long series goes on in the next frame.
  if (totals_.series == 0 || id_ != last_id_) newest_ = std::numeric_limits<std::int64_t>::min();
  last_id_ = id_;
  ++totals_.series;
  return labels_read;
}

// Chunk {min_time_ms = 1, max_time_ms = 2, type = 3, data = 4}
Status RemoteReadDecoder::read_chunk(std::string_view message) {
  std::uint64_t encoding = 0;
  std::string_view data;
  ProtoFields fields(message);
  while (fields.next()) {
    if (fields.is(3, WireType::varint)) encoding = fields.number();
    if (fields.is(4, WireType::bytes)) data = fields.bytes();
  }
  if (!fields.ok()) return corrupt("a chunk is malformed");
  if (encoding != kXorEncoding) return no_floats();
  ++totals_.chunks;
  if (Status decoded = decode_xor_chunk(data, samples_); !decoded) return decoded;
  append(samples_);
  return ok();
}

// Sample {value = 1, timestamp = 2}
Status RemoteReadDecoder::read_sample(std::string_view message) {
  Sample sample;
  ProtoFields fields(message);
  while (fields.next()) {
    if (fields.is(1, WireType::fixed64)) sample.value = fields.real();
    if (fields.is(2, WireType::varint)) sample.at_ms = static_cast<std::int64_t>(fields.number());
  }
  if (!fields.ok() || !is_sample_time(sample.at_ms)) return corrupt("a sample is malformed");
  if (!samples_.empty() && sample.at_ms <= samples_.back().at_ms) {
    return corrupt("samples are not in time order");
  }
  samples_.push_back(sample);
  return ok();
}

void RemoteReadDecoder::append(std::span<const Sample> samples) {
  samples = span_.clip(samples);
  while (!samples.empty() && samples.front().at_ms <= newest_) samples = samples.subspan(1);
  if (samples.empty()) return;
  newest_ = samples.back().at_ms;
  totals_.samples += samples.size();
  sink_.append(id_, samples);
}

Error RemoteReadDecoder::no_floats() const {
  const auto labels = parse_labels(raw_labels_, external_);
  return {ErrorKind::unsupported,
          fmt::format("{}: the series holds native histograms or another chunk encoding than XOR; "
                      "classic counters are needed",
                      labels ? excerpt(labels->to_string(), 300) : "a series")};
}

}  // namespace outcomed
