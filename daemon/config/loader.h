// outcomed.yaml and rules.d/*.yaml -> Config, with everything that is wrong said at once.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/catalogs.h"
#include "daemon/config/config.h"
#include "daemon/config/named_files.h"
#include "daemon/config/problem.h"

namespace outcomed {

struct LoadedConfig {
  Config config;                        // To be used only where there are no problems.
  std::vector<ConfigProblem> problems;  // Sorted by place.
  std::vector<ConfigProblem> notes;     // Allowed, but perhaps not what was meant; sorted by place.
  std::vector<NamedFile> named_files;   // As they stand there; nobody has looked for them.
  // All files as they were read, one YAML document each, the built-in rules included where they are
  // in force: what history keeps, and what load_config_text reads back.
  std::string text;
  std::string hash;  // SHA-256 of `text`, in hexadecimal.

  [[nodiscard]] bool ok() const { return problems.empty(); }
};

// Never throws; what can't be read is a problem like any other. Beside the file, rules.d/*.yaml are
// read in the order of their names (only `rules:` may stand in them); folders, hidden files and
// other suffixes there are left alone. Relative paths in settings are taken from the file's folder.
LoadedConfig load_config(const std::filesystem::path& path, const Catalogs& catalogs);

// The same from LoadedConfig::text, as if `path` and rules.d/ held it. Nothing is read from disk.
LoadedConfig load_config_text(std::string_view text, const std::filesystem::path& path,
                              const Catalogs& catalogs);

}  // namespace outcomed
