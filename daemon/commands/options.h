// Options of one command, on Boost.Program_options: --config, --format and --help everywhere.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/commands/command.h"

namespace outcomed {

class Options {
 public:
  // `usage` is the line after "outcomed "; `example` one line a person can copy.
  Options(std::string usage, std::string text, std::string example);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  Options& value(const char* name, const char* help);
  Options& value(const char* name, const std::string& by_default, const char* help);
  Options& flag(const char* name, const char* help);
  Options& list(const char* name, const char* help);
  Options& positional(const char* name, int most, const char* help);

  // Nothing: go on. Otherwise the command ends with this status (help was printed, or the error).
  std::optional<ExitStatus> parse(const std::vector<std::string>& arguments, Shell& shell);

  [[nodiscard]] bool has(const char* name) const;
  [[nodiscard]] std::string text(const char* name) const;  // Empty where it wasn't given.
  [[nodiscard]] std::vector<std::string> texts(const char* name) const;

  // RFC 3339, Unix seconds, "now" or "now-2h". Nothing where it wasn't given.
  Result<std::optional<Timestamp>> time(const char* name, Timestamp now) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

ExitStatus usage_error(Shell& shell, const std::string& message);

// Loads the configuration; prints its problems and gives the status to end with.
std::optional<ExitStatus> load_or_report(const std::string& path, Shell& shell,
                                         LoadedConfig& loaded);

ExitStatus status_of(const Error& error);

}  // namespace outcomed
