// A copy of the configuration that was in force last, for a start with a broken file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "queries/base/result.h"

namespace outcomed {

class LastGood {
 public:
  // In `folder`; an empty one keeps and finds nothing.
  explicit LastGood(const std::filesystem::path& folder);

  // Writes the copy as a whole or not at all; readable for its owner only.
  Status keep(const std::string& text) const;
  // What keep() wrote last; nothing where there is none.
  [[nodiscard]] std::optional<std::string> read() const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace outcomed
