// CRC-32C (Castagnoli, RFC 3720): guards the frames of a streamed remote read.
#pragma once

#include <cstdint>
#include <string_view>

namespace outcomed {

std::uint32_t crc32c(std::string_view bytes);

}  // namespace outcomed
