#include "queries/prometheus/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace outcomed {
namespace {

// RFC 3720 appendix B.4, and the check value of the CRC catalogue.
TEST(Crc32c, AgreesWithThePublishedVectors) {
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  std::string rising;
  for (char c = 0; c < 32; ++c) rising += c;
  EXPECT_EQ(crc32c(rising), 0x46dd794eU);
  EXPECT_EQ(crc32c(std::string(rising.rbegin(), rising.rend())), 0x113fdb5cU);
}

// The definition, bit by bit.
std::uint32_t slow(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
  }
  return ~crc;
}

TEST(Crc32c, EveryLengthAgreesWithTheDefinition) {
  std::string bytes;
  for (int size = 0; size < 100; ++size) {
    EXPECT_EQ(crc32c(bytes), slow(bytes)) << size;
    bytes += static_cast<char>(size * 37);
  }
}

}  // namespace
}  // namespace outcomed
