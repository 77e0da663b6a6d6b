// Compact bytes for memories that are saved with each tick: little-endian, varints, no alignment.
// Doubles keep their bits, so a restored memory equals the saved one exactly.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "queries/base/labels.h"

namespace outcomed {

class Writer {
 public:
  void u64(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void i64(std::int64_t value) {  // Zigzag: small negatives stay small.
    u64((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void f64(double value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes_.append(raw, sizeof raw);
  }
  void text(std::string_view value) {
    u64(value.size());
    bytes_ += value;
  }
  void labels(const Labels& value) {
    u64(value.pairs().size());
    for (const auto& [name, text_value] : value.pairs()) {
      text(name);
      text(text_value);
    }
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads what Writer wrote. After any overrun every read yields zero and ok() is false: check it
// once, at the end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  // It reads where the bytes lie: they must outlive it, and a temporary doesn't.
  template <std::same_as<std::string> Text>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): Text is never a Reader.
  explicit Reader(Text&& temporary) = delete;

  std::uint64_t u64() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return fail();
  }
  std::int64_t i64() {
    const std::uint64_t raw = u64();
    return static_cast<std::int64_t>(raw >> 1) ^ -static_cast<std::int64_t>(raw & 1);
  }
  double f64() {
    double value = 0;
    if (rest_.size() < sizeof value) return static_cast<double>(fail());
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string text() {
    const std::uint64_t size = u64();
    if (size > rest_.size()) {
      fail();
      return {};
    }
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }
  Labels labels() {
    Labels value;
    for (std::uint64_t left = u64(); left > 0 && ok_; --left) {
      std::string name = text();
      value.set(std::move(name), text());
    }
    return value;
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return ok_ && rest_.empty(); }

 private:
  std::uint64_t fail() {
    ok_ = false;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace outcomed
