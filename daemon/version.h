#pragma once

#include <string_view>

namespace outcomed {

inline constexpr std::string_view kVersion = OUTCOMED_VERSION;

}  // namespace outcomed
