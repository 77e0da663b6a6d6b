// Messages of Prometheus' remote protocols, as its servers write them.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "queries/counters/samples.h"
#include "queries/prometheus/crc32c.h"
#include "queries/prometheus/protobuf.h"

namespace outcomed {

using Pairs = std::vector<std::pair<std::string, std::string>>;

inline std::string labels_message(const Pairs& pairs) {
  ProtoWriter message;
  for (const auto& [name, value] : pairs) {
    ProtoWriter label;
    label.bytes(1, name).bytes(2, value);
    message.bytes(1, label.message());
  }
  return message.message();
}

// A frame of a streamed answer around a message.
inline std::string frame_of(const std::string& message) {
  std::string frame;
  for (std::uint64_t left = message.size();; left >>= 7) {
    if (left < 0x80) {
      frame += static_cast<char>(left);
      break;
    }
    frame += static_cast<char>(left | 0x80);
  }
  const std::uint32_t sum = crc32c(message);
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(sum >> shift);
  return frame + message;
}

// A TimeSeries of a SAMPLES answer or of a remote write.
inline std::string plain_series(const Pairs& labels, const std::vector<Sample>& samples) {
  std::string message = labels_message(labels);
  for (const Sample& sample : samples) {
    std::string value("\x09", 1);
    const auto bits = std::bit_cast<std::uint64_t>(sample.value);
    for (int shift = 0; shift < 64; shift += 8) value += static_cast<char>(bits >> shift);
    ProtoWriter time;
    time.varint(2, static_cast<std::uint64_t>(sample.at_ms));
    ProtoWriter one;
    one.bytes(2, value + time.message());
    message += one.message();
  }
  return message;
}

}  // namespace outcomed
