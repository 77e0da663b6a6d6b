// Writes XOR chunks as Prometheus does (tsdb/chunkenc/xor.go), independently of the decoder.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "queries/counters/samples.h"

namespace outcomed {

class XorEncoder {
 public:
  static std::string encode(const std::vector<Sample>& samples) {
    XorEncoder encoder;
    for (const Sample& sample : samples) encoder.add(sample);
    std::string chunk;
    chunk += static_cast<char>(samples.size() >> 8);
    chunk += static_cast<char>(samples.size() & 0xff);
    return chunk + encoder.bytes_;
  }

 private:
  void bit(bool value) {
    if (used_ % 8 == 0) bytes_ += '\0';
    if (value) bytes_.back() = static_cast<char>(bytes_.back() | (0x80 >> (used_ % 8)));
    ++used_;
  }
  void bits(std::uint64_t value, int count) {
    for (int i = count - 1; i >= 0; --i) bit(((value >> i) & 1) != 0);
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bits((value & 0x7f) | 0x80, 8);
    bits(value, 8);
  }
  void add(const Sample& sample) {
    const auto value = std::bit_cast<std::uint64_t>(sample.value);
    if (count_ == 0) {
      varint((static_cast<std::uint64_t>(sample.at_ms) << 1) ^
             static_cast<std::uint64_t>(sample.at_ms >> 63));
      bits(value, 64);
    } else {
      const std::int64_t step = sample.at_ms - at_;
      if (count_ == 1) {
        varint(static_cast<std::uint64_t>(step));
      } else {
        delta_of_delta(step - step_);
      }
      step_ = step;
      changed(value ^ value_);
    }
    at_ = sample.at_ms;
    value_ = value;
    ++count_;
  }
  void delta_of_delta(std::int64_t change) {
    const auto fits = [&](int width) {
      return -(INT64_C(1) << (width - 1)) + 1 <= change && change <= INT64_C(1) << (width - 1);
    };
    const auto raw = static_cast<std::uint64_t>(change);
    if (change == 0) {
      bit(false);
    } else if (fits(14)) {
      bits(0b10, 2);
      bits(raw, 14);
    } else if (fits(17)) {
      bits(0b110, 3);
      bits(raw, 17);
    } else if (fits(20)) {
      bits(0b1110, 4);
      bits(raw, 20);
    } else {
      bits(0b1111, 4);
      bits(raw, 64);
    }
  }
  void changed(std::uint64_t difference) {
    if (difference == 0) return bit(false);
    bit(true);
    int leading = std::countl_zero(difference);
    const int trailing = std::countr_zero(difference);
    if (leading >= 32) leading = 31;
    if (leading_ >= 0 && leading >= leading_ && trailing >= trailing_) {
      bit(false);
      bits(difference >> trailing_, 64 - leading_ - trailing_);
      return;
    }
    leading_ = leading;
    trailing_ = trailing;
    bit(true);
    bits(static_cast<std::uint64_t>(leading), 5);
    const int width = 64 - leading - trailing;
    bits(static_cast<std::uint64_t>(width), 6);  // 64 is written as 0.
    bits(difference >> trailing, width);
  }

  std::string bytes_;
  std::size_t used_ = 0;
  std::size_t count_ = 0;
  std::int64_t at_ = 0;
  std::int64_t step_ = 0;
  std::uint64_t value_ = 0;
  int leading_ = -1;
  int trailing_ = 0;
};

}  // namespace outcomed
