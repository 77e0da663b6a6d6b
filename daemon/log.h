// One event a line, logfmt: ts=… level=info event="tick finished" key=value …
#pragma once

#include <fmt/core.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "queries/base/time.h"

namespace outcomed {

enum class LogLevel : std::uint8_t { debug, info, warn, error };

// A named value of a line.
struct LogField {
  LogField(std::string_view key, std::string_view text) : name(key), value(text) {}
  LogField(std::string_view key, const std::string& text) : name(key), value(text) {}
  LogField(std::string_view key, const char* text) : name(key), value(text) {}
  template <class Number>
  requires std::is_arithmetic_v<Number> LogField(std::string_view key, Number number)
      : name(key), value(fmt::format("{}", number)) {}

  std::string name;
  std::string value;
};

using LogFields = std::vector<LogField>;

class Logger {
 public:
  virtual ~Logger() = default;
  // Thread-safe. `event` is a fixed text: what differs goes into fields.
  virtual void log(LogLevel level, std::string_view event, const LogFields& fields) = 0;

  void debug(std::string_view event, const LogFields& fields = {}) {
    log(LogLevel::debug, event, fields);
  }
  void info(std::string_view event, const LogFields& fields = {}) {
    log(LogLevel::info, event, fields);
  }
  void warn(std::string_view event, const LogFields& fields = {}) {
    log(LogLevel::warn, event, fields);
  }
  void error(std::string_view event, const LogFields& fields = {}) {
    log(LogLevel::error, event, fields);
  }
};

// "event=\"tick finished\" rule=model_failures": values in quotes where they need them; control
// characters, line separators and bytes that are no UTF-8 are escaped, so a label can't forge a
// line. Values are cut at 2000 bytes.
std::string logfmt(std::string_view event, const LogFields& fields);

// To standard error, through spdlog. `on_warning` is called for each warning and error that is
// written.
std::unique_ptr<Logger> make_stderr_logger(LogLevel least, std::function<void()> on_warning = {});

// debug, info, warn, error.
Result<LogLevel> parse_log_level(std::string_view text);

// Says of a condition that lasts: when it starts, when it changes, every ten minutes how often it
// was seen, and when it ends. Keeps the 1000 seen last: keys may hold names that others choose. Not
// thread-safe.
class RepeatLimiter {
 public:
  enum class Say : std::uint8_t { nothing, started, changed, still, ended };
  struct Answer {
    Say say = Say::nothing;
    std::uint64_t seen = 0;  // Since it started.
    Timestamp since;
  };

  // `what` is the condition's present text; empty: it is over.
  Answer seen(const std::string& key, const std::string& what, Timestamp now);

 private:
  struct State {
    std::string key;
    std::string what;
    Timestamp since;
    Timestamp said;
    Timestamp seen;
    std::uint64_t count = 0;
  };
  std::vector<State> states_;
};

}  // namespace outcomed
