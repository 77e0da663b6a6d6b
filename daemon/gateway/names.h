// Names in a gateway's configuration: provider prefixes, references.
#pragma once

#include <optional>
#include <string_view>

namespace outcomed {

// "deepseek/deepseek-chat" -> "deepseek"; empty without a prefix.
std::string_view provider_prefix(std::string_view model);
// "openrouter/deepseek/deepseek-chat" -> "deepseek/deepseek-chat".
std::string_view without_prefix(std::string_view model);

// "os.environ/NAME" -> "NAME"; nothing for other texts.
std::optional<std::string_view> environment_name(std::string_view text);

}  // namespace outcomed
