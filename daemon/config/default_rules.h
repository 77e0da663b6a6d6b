#pragma once

#include <string_view>

namespace outcomed {

// The rules in force where the configuration has no `rules:`, in the form of a rules.d file. Those
// whose signal isn't configured are left out, and those whose signal lacks the labels that they
// need.
std::string_view default_rules_text();

}  // namespace outcomed
