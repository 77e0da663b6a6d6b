#pragma once

#include <string>
#include <string_view>

#include "queries/base/result.h"

namespace outcomed {

// Lower-case hex.
Result<std::string> sha256_hex(std::string_view text);
Result<std::string> hmac_sha256_hex(std::string_view key, std::string_view text);

}  // namespace outcomed
