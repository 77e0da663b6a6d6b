// The files of a configuration, read with care: they may be missing, huge, or no files at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/problem.h"
#include "queries/base/result.h"

namespace outcomed {

inline constexpr std::string_view kBuiltInRules = "built-in rules";

struct ConfigFile {
  std::string name;  // As messages show it; for parts of a stored text the name it was stored by.
  std::string text;
};

struct ConfigFiles {
  std::vector<ConfigFile> files;  // The main file first; empty when that can't be read.
  std::vector<ConfigProblem> problems;
  std::vector<ConfigProblem> notes;
};

// One regular file of at most kMaxConfigBytes. Errors read "what; remedy".
Result<std::string> read_config_text(const std::filesystem::path& path);

ConfigFiles read_config_files(const std::filesystem::path& path);

// Several files as one YAML stream, and back. The first part is the main file.
std::string join_config_text(const std::vector<ConfigFile>& files);
std::vector<ConfigFile> split_config_text(std::string_view text, const std::string& main_name);

}  // namespace outcomed
