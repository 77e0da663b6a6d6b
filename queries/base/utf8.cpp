#include "queries/base/utf8.h"

namespace outcomed {
namespace {

struct LeadByte {
  std::size_t length = 0;  // Of the whole sequence; 0: it can't lead one.
  unsigned char low = 0x80;
  unsigned char high = 0xBF;  // Bounds of the second byte (Unicode table 3-7).
};

LeadByte lead_byte(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte >= 0xC2 && byte <= 0xDF) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {};
}

}  // namespace

Utf8Sequence utf8_sequence(std::string_view text) {
  const LeadByte lead = lead_byte(static_cast<unsigned char>(text.front()));
  if (lead.length <= 1) return {1, lead.length == 1};
  for (std::size_t i = 1; i < lead.length; ++i) {
    const auto byte = i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    const unsigned low = i == 1 ? lead.low : 0x80U;
    const unsigned high = i == 1 ? lead.high : 0xBFU;
    if (byte < low || byte > high) return {i, false};
  }
  return {lead.length, true};
}

std::string repair_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Sequence sequence = utf8_sequence(text);
    out += sequence.valid ? text.substr(0, sequence.bytes) : kUtf8Replacement;
    text.remove_prefix(sequence.bytes);
  }
  return out;
}

Labels repair_utf8(const Labels& labels) {
  Labels out;
  for (const auto& [name, value] : labels.pairs()) out.set(repair_utf8(name), repair_utf8(value));
  return out;
}

}  // namespace outcomed
