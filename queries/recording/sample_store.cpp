#include "queries/recording/sample_store.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace outcomed {
namespace {

constexpr double kWhole = 9007199254740992.0;  // 2^53: whole numbers below it are exact.

bool is_whole(double value) { return std::fabs(value) < kWhole && value == std::trunc(value); }

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unzigzag(std::uint64_t raw) {
  return static_cast<std::int64_t>(raw >> 1) ^ -static_cast<std::int64_t>(raw & 1);
}

void put(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}
std::uint64_t get(const std::string& bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return value;
}

// Differences wrap around like unsigned numbers do, so that any two times can follow each other.
std::int64_t minus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace

void SampleColumn::add(const Sample& sample) {
  if (!bytes_.empty() && sample.at_ms < tail_.sample.at_ms) ascending_ = false;
  const std::int64_t step = minus(sample.at_ms, tail_.sample.at_ms);
  put(bytes_, zigzag(minus(step, tail_.step)));
  // −0 would come back as 0: harmless for counters, but it is kept as it is.
  const bool whole = is_whole(sample.value) && is_whole(tail_.sample.value) &&
                     !(sample.value == 0 && std::signbit(sample.value));
  if (whole) {
    put(bytes_, zigzag(static_cast<std::int64_t>(sample.value) -
                       static_cast<std::int64_t>(tail_.sample.value))
                    << 1);
  } else {
    put(bytes_, 1);
    char raw[sizeof sample.value];
    std::memcpy(raw, &sample.value, sizeof raw);
    bytes_.append(raw, sizeof raw);
  }
  tail_ = {sample, step};
}

bool SampleColumn::next(Cursor& cursor, Sample& sample) const {
  if (cursor.position >= bytes_.size()) return false;
  State& state = cursor.state;
  state.step = plus(state.step, unzigzag(get(bytes_, cursor.position)));
  state.sample.at_ms = plus(state.sample.at_ms, state.step);
  const std::uint64_t head = get(bytes_, cursor.position);
  if ((head & 1) != 0) {
    std::memcpy(&state.sample.value, bytes_.data() + cursor.position, sizeof(double));
    cursor.position += sizeof(double);
  } else {
    state.sample.value =
        static_cast<double>(static_cast<std::int64_t>(state.sample.value) + unzigzag(head >> 1));
  }
  sample = state.sample;
  return true;
}

void SampleColumn::sort() {
  std::vector<Sample> samples;
  Cursor cursor;
  Sample sample;
  while (next(cursor, sample)) samples.push_back(sample);
  std::ranges::stable_sort(samples, {}, &Sample::at_ms);
  const auto same_time = [](const Sample& a, const Sample& b) { return a.at_ms == b.at_ms; };
  samples.erase(std::unique(samples.begin(), samples.end(), same_time), samples.end());
  *this = SampleColumn();
  for (const Sample& sorted : samples) add(sorted);
}

}  // namespace outcomed
