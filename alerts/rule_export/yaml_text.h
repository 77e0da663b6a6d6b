#pragma once

#include <string>
#include <string_view>

namespace outcomed {

// A double-quoted YAML scalar: always a string, whatever it looks like. Invalid UTF-8 is repaired.
std::string yaml_string(std::string_view text);

// "indent key: |-" with the text below it, as a block where that keeps every character, else as a
// double-quoted scalar. Ends in a line break.
std::string yaml_block(std::string_view indent, std::string_view key, std::string_view text);

// Text that a Go template prints as it stands: `{{` is escaped.
std::string template_literal(std::string_view text);

}  // namespace outcomed
