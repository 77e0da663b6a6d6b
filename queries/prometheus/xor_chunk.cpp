#include "queries/prometheus/xor_chunk.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace outcomed {
namespace {

// Reads bits from the most significant end. Beyond the last bit it yields zeros and notes it.
class BitReader {
 public:
  explicit BitReader(std::string_view bytes)
      : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // Makes that many bits ready, at most 56, or all that are left.
  void need(unsigned bits) {
    if (count_ < bits) refill();
  }
  // 1 to 56 bits that were made ready.
  std::uint64_t take(unsigned bits) {
    const std::uint64_t value = ready_ >> (64 - bits);
    drop(bits);
    return value;
  }
  bool take_bit() { return take(1) != 0; }
  std::uint64_t take_64() {
    need(32);
    const std::uint64_t high = take(32);
    need(32);
    return high << 32 | take(32);
  }
  std::uint64_t take_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      need(8);
      const std::uint64_t byte = take(8);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    overrun_ = true;
    return 0;
  }
  [[nodiscard]] bool overrun() const { return overrun_; }
  [[nodiscard]] unsigned leading_ones(unsigned limit) const {
    const auto ones = static_cast<unsigned>(std::countl_one(ready_));
    return ones < limit ? ones : limit;
  }
  void drop(unsigned bits) {
    if (bits > count_) [[unlikely]] {
      overrun_ = true;
      ready_ = 0;
      count_ = 0;
      return;
    }
    ready_ <<= bits;
    count_ -= bits;
  }

 private:
  void refill() {
    if (end_ - next_ >= 8) [[likely]] {
      std::uint64_t word = 0;
      std::memcpy(&word, next_, sizeof word);
      if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
      ready_ |= word >> count_;
      next_ += (63 - count_) >> 3;
      count_ |= 56;
      return;
    }
    while (count_ <= 55 && next_ < end_) {
      ready_ |= std::uint64_t{static_cast<unsigned char>(*next_++)} << (56 - count_);
      count_ += 8;
    }
  }

  const char* next_;
  const char* end_;
  std::uint64_t ready_ = 0;  // Left-aligned.
  unsigned count_ = 0;       // Valid bits in ready_, below 64.
  bool overrun_ = false;
};

// The change of the time step: a unary prefix says in how many bits it stands.
std::uint64_t take_delta_of_delta(BitReader& bits) {
  constexpr unsigned kWidths[] = {0, 14, 17, 20, 64};
  bits.need(24);
  const unsigned prefix = bits.leading_ones(4);
  bits.drop(prefix == 4 ? 4 : prefix + 1);
  const unsigned width = kWidths[prefix];
  if (width == 0) return 0;
  if (width == 64) return bits.take_64();
  std::uint64_t value = bits.take(width);
  // Two's complement, but the lowest number stands for itself positive, as Prometheus writes it.
  if (value > (std::uint64_t{1} << (width - 1))) value -= std::uint64_t{1} << width;
  return value;
}

// Which bits of the value changed; `leading` and `trailing` carry over to the next sample.
std::uint64_t take_changed_bits(BitReader& bits, unsigned& leading, unsigned& trailing, bool& bad) {
  bits.need(13);
  if (!bits.take_bit()) return 0;
  if (bits.take_bit()) {
    leading = static_cast<unsigned>(bits.take(5));
    auto width = static_cast<unsigned>(bits.take(6));
    if (width == 0) width = 64;
    if (leading + width > 64) {
      bad = true;
      leading = 0;  // The walk goes on to its end, within bounds.
      width = 64;
    }
    trailing = 64 - leading - width;
  }
  const unsigned width = 64 - leading - trailing;
  bits.need(width < 56 ? width : 56);
  if (width <= 56) return bits.take(width) << trailing;
  const std::uint64_t high = bits.take(32);
  bits.need(32);
  return (high << (width - 32) | bits.take(width - 32)) << trailing;
}

}  // namespace

Status decode_xor_chunk(std::string_view chunk, std::vector<Sample>& out) {
  const auto corrupt = [](const char* what) {
    return Error{ErrorKind::corrupt, std::string("a chunk of samples is broken: ") + what};
  };
  if (chunk.size() < 2) return corrupt("cut off");
  const std::size_t count = static_cast<std::size_t>(static_cast<unsigned char>(chunk[0])) << 8 |
                            static_cast<unsigned char>(chunk[1]);
  chunk.remove_prefix(2);
  // Two bits is the least a sample takes: no claim makes us write more than four for a byte.
  if (count > chunk.size() * 4) return corrupt("cut off");
  out.resize(count);  // Chunks are much of a size: what stood there isn't cleared first.
  if (count == 0) return ok();
  Sample* const to = out.data();

  BitReader bits(chunk);
  const std::uint64_t zigzag = bits.take_varint();
  std::uint64_t time = (zigzag >> 1) ^ (0 - (zigzag & 1));  // Modulo 2^64, so nothing overflows.
  std::uint64_t value = bits.take_64();
  to[0] = {static_cast<std::int64_t>(time), std::bit_cast<double>(value)};
  std::uint64_t step = 0;
  unsigned leading = 0;
  unsigned trailing = 0;
  bool bad = false;
  for (std::size_t i = 1; i < count; ++i) {
    step = i == 1 ? bits.take_varint() : step + take_delta_of_delta(bits);
    const auto before = static_cast<std::int64_t>(time);
    time += step;
    const auto at = static_cast<std::int64_t>(time);
    bad |= at <= before;
    value ^= take_changed_bits(bits, leading, trailing, bad);
    to[i] = {at, std::bit_cast<double>(value)};
  }
  if (bits.overrun()) return corrupt("cut off");
  if (bad) return corrupt("times that don't rise or impossible widths");
  return ok();
}

}  // namespace outcomed
