// Patterns with `*`, as people write names of models and groups.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace outcomed {

// `*` stands for any characters, `/` among them; everything else for itself. Linear in the pattern
// and the text but for the last `*`.
bool glob_matches(std::string_view pattern, std::string_view text);
bool any_glob_matches(const std::vector<std::string>& patterns, std::string_view text);

}  // namespace outcomed
