// UTF-8 as Unicode defines it (table 3-7): overlong forms, surrogates and code points above
// U+10FFFF are no characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "queries/base/labels.h"

namespace outcomed {

inline constexpr std::string_view kUtf8Replacement = "\xEF\xBF\xBD";  // U+FFFD

struct Utf8Sequence {
  std::size_t bytes = 1;  // At least 1: of the character, or of what one replacement stands for.
  bool valid = false;
};

// The sequence at the beginning of `text`, which is not empty.
Utf8Sequence utf8_sequence(std::string_view text);

// What is no UTF-8 becomes U+FFFD, one for each maximal part of a broken character.
std::string repair_utf8(std::string_view text);
Labels repair_utf8(const Labels& labels);

}  // namespace outcomed
