#include "daemon/gateway/names.h"

namespace outcomed {

std::string_view provider_prefix(std::string_view model) {
  const std::size_t slash = model.find('/');
  return slash == std::string_view::npos ? std::string_view() : model.substr(0, slash);
}

std::string_view without_prefix(std::string_view model) {
  const std::size_t slash = model.find('/');
  return slash == std::string_view::npos ? model : model.substr(slash + 1);
}

std::optional<std::string_view> environment_name(std::string_view text) {
  constexpr std::string_view kPrefix = "os.environ/";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  return text.substr(kPrefix.size());
}

}  // namespace outcomed
