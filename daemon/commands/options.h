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
  // --format: the first of these unless another is asked for; parse() refuses others.
  Options& format(std::vector<std::string> choices);

  // Nothing: go on. Otherwise the command ends with this status (help was printed, or the error).
  std::optional<ExitStatus> parse(const std::vector<std::string>& arguments, Shell& shell);

  [[nodiscard]] bool has(const char* name) const;
  [[nodiscard]] std::string text(const char* name) const;  // Empty where it wasn't given.
  [[nodiscard]] std::vector<std::string> texts(const char* name) const;

  // RFC 3339, Unix seconds, "now" or "now-2h". Nothing where it wasn't given.
  Result<std::optional<Timestamp>> time(const char* name, Timestamp now) const;
  // --from and --to, each as time(); an error where the one is not before the other.
  struct Span {
    std::optional<Timestamp> from;
    std::optional<Timestamp> to;
  };
  [[nodiscard]] Result<Span> span(Timestamp now, const char* from = "from") const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

ExitStatus usage_error(Shell& shell, const std::string& message);

// An error where a span is empty, or so long (ten years) that it can only be a mistake.
Status sensible_span(TimeRange range, const char* from = "from");

// Loads the configuration; prints its problems and gives the status to end with.
std::optional<ExitStatus> load_or_report(const std::string& path, Shell& shell,
                                         LoadedConfig& loaded);
// The same for commands that the daemon answers, which needs no sound file on disk: a file with
// problems (false) only says where the daemon listens. Prints them, and that it is asked all the
// same.
bool load_to_ask(const std::string& path, Shell& shell, LoadedConfig& loaded);

ExitStatus status_of(const Error& error);

// Says what went wrong with data that a source should have given, whatever it is: a recording that
// isn't there or is damaged is a source that can't be reached.
ExitStatus source_failed(Shell& shell, const Error& error);

}  // namespace outcomed
