// Protocol buffers' wire format, as much of it as remote read needs.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace outcomed {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

// Walks the fields of one message. Anything malformed ends the walk with ok() false:
//   for (ProtoFields f(message); f.next();) { if (f.is(1, WireType::bytes)) use(f.bytes()); }
class ProtoFields {
 public:
  explicit ProtoFields(std::string_view message) : rest_(message) {}

  // Moves to the next field; false at the end and at a fault.
  bool next() {
    if (rest_.empty()) return false;
    std::uint64_t tag = 0;
    if (!read_varint(rest_, tag) || (tag >> 3) == 0 || (tag >> 3) > kMaxField) return fail();
    field_ = static_cast<std::uint32_t>(tag >> 3);
    type_ = static_cast<WireType>(tag & 7);
    switch (type_) {
      case WireType::varint:
        return read_varint(rest_, number_) || fail();
      case WireType::fixed64:
        return take_fixed(8);
      case WireType::fixed32:
        return take_fixed(4);
      case WireType::bytes: {
        std::uint64_t size = 0;
        if (!read_varint(rest_, size) || size > rest_.size()) return fail();
        bytes_ = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return true;
      }
    }
    return fail();  // Groups are of another age.
  }
  [[nodiscard]] bool is(std::uint32_t field, WireType type) const {
    return field_ == field && type_ == type;
  }
  [[nodiscard]] std::uint32_t field() const { return field_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }  // Of a varint.
  [[nodiscard]] double real() const {                             // Of a fixed64.
    double value = 0;
    std::memcpy(&value, &number_, sizeof value);
    return value;
  }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  [[nodiscard]] std::string_view rest() const { return rest_; }  // What follows the present field.
  [[nodiscard]] bool ok() const { return ok_; }

  // Takes a varint off the front; false where it is cut off or longer than 64 bits.
  static bool read_varint(std::string_view& from, std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (from.empty()) return false;
      const auto byte = static_cast<unsigned char>(from.front());
      from.remove_prefix(1);
      if (shift == 63 && byte > 1) return false;
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

 private:
  static constexpr std::uint64_t kMaxField = (1U << 29) - 1;

  bool fail() {
    ok_ = false;
    rest_ = {};
    return false;
  }
  bool take_fixed(std::size_t size) {
    if (rest_.size() < size) return fail();
    number_ = 0;
    std::memcpy(&number_, rest_.data(), size);
    rest_.remove_prefix(size);
    return true;
  }

  std::string_view rest_;
  std::uint32_t field_ = 0;
  WireType type_ = WireType::varint;
  std::uint64_t number_ = 0;
  std::string_view bytes_;
  bool ok_ = true;
};

class ProtoWriter {
 public:
  ProtoWriter& varint(std::uint32_t field, std::uint64_t value) {
    raw(std::uint64_t{field} << 3);
    raw(value);
    return *this;
  }
  ProtoWriter& bytes(std::uint32_t field, std::string_view value) {
    raw(std::uint64_t{field} << 3 | 2U);
    raw(value.size());
    message_ += value;
    return *this;
  }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  void raw(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) message_ += static_cast<char>(value | 0x80);
    message_ += static_cast<char>(value);
  }
  std::string message_;
};

}  // namespace outcomed
