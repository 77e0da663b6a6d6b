// Values as people write them. Every error reads "what is wrong; what to do".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "queries/base/result.h"

namespace outcomed {

// `10%` or `0.1` -> 0.1, read in one step, so it is the double nearest to what was typed. At most
// 100 %. A bare number above 1 is an error that proposes the percent sign, and so is a bare 1.
Result<double> parse_share(std::string_view text);
// 0.1 -> "10%"; parse_share gives the same double back.
std::string share_text(double share);

// `64MiB`: B, KiB, MiB, GiB, TiB; whole numbers.
Result<std::int64_t> parse_size(std::string_view text);
std::string size_text(std::int64_t bytes);

// Decimal digits with an optional minus; no leading zeros, exponents, underscores or 0x.
Result<std::int64_t> parse_whole_number(std::string_view text);

}  // namespace outcomed
