#include "daemon/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "queries/base/utf8.h"

namespace outcomed {
namespace {

constexpr std::size_t kLongestValue = 2000;
constexpr Duration kStillEvery = std::chrono::minutes(10);

// C0 and C1 controls, DEL, and the line and paragraph separators.
bool is_harmful(std::string_view c) {
  if (c.size() == 1) return static_cast<unsigned char>(c[0]) < 0x20 || c[0] == 0x7f;
  if (c.size() == 2) return c[0] == '\xc2' && static_cast<unsigned char>(c[1]) < 0xa0;
  return c == "\xe2\x80\xa8" || c == "\xe2\x80\xa9";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size() && out.size() < kLongestValue;) {
    const Utf8Sequence sequence = utf8_sequence(text.substr(at));
    const std::string_view c = text.substr(at, sequence.bytes);
    if (!sequence.valid || is_harmful(c)) {
      if (c == "\n")
        out += "\\n";
      else
        for (const char byte : c) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    } else {
      if (c == "\"" || c == "\\") out += '\\';
      out += c;
    }
    at += c.size();
  }
  if (out.size() >= kLongestValue) out += "…";
  return out;
}

std::string value_text(std::string_view value) {
  std::string text = escaped(value);
  const bool plain =
      !text.empty() && text == value && text.find_first_of(" =\"") == std::string::npos;
  return plain ? text : '"' + text + '"';
}

class StderrLogger final : public Logger {
 public:
  StderrLogger(LogLevel least, std::function<void()> on_warning)
      : on_warning_(std::move(on_warning)),
        logger_("outcomed", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger_.set_pattern("ts=%Y-%m-%dT%H:%M:%S.%eZ level=%l %v", spdlog::pattern_time_type::utc);
    logger_.set_level(level_of(least));
    logger_.flush_on(spdlog::level::trace);
  }

  void log(LogLevel level, std::string_view event, const LogFields& fields) override {
    if (!logger_.should_log(level_of(level))) return;
    logger_.log(level_of(level), "{}", logfmt(event, fields));
    if (level >= LogLevel::warn && on_warning_) on_warning_();
  }

 private:
  static spdlog::level::level_enum level_of(LogLevel level) {
    switch (level) {
      case LogLevel::debug:
        return spdlog::level::debug;
      case LogLevel::info:
        return spdlog::level::info;
      case LogLevel::warn:
        return spdlog::level::warn;
      case LogLevel::error:
        return spdlog::level::err;
    }
    return spdlog::level::info;
  }

  std::function<void()> on_warning_;
  spdlog::logger logger_;
};

}  // namespace

std::string logfmt(std::string_view event, const LogFields& fields) {
  std::string line = "event=" + value_text(event);
  for (const LogField& field : fields) line += " " + field.name + "=" + value_text(field.value);
  return line;
}

std::unique_ptr<Logger> make_stderr_logger(LogLevel least, std::function<void()> on_warning) {
  return std::make_unique<StderrLogger>(least, std::move(on_warning));
}

Result<LogLevel> parse_log_level(std::string_view text) {
  if (text == "debug") return LogLevel::debug;
  if (text == "info") return LogLevel::info;
  if (text == "warn") return LogLevel::warn;
  if (text == "error") return LogLevel::error;
  return Error{ErrorKind::invalid,
               fmt::format("\"{}\" is none of debug, info, warn, error", text.substr(0, 40))};
}

RepeatLimiter::Answer RepeatLimiter::seen(const std::string& key, const std::string& what,
                                          Timestamp now) {
  const auto found = std::ranges::find(states_, key, &State::key);
  if (found == states_.end()) {
    if (what.empty()) return {};
    states_.push_back({key, what, now, now, 1});
    return {Say::started, 1, now};
  }
  if (what.empty()) {
    const Answer answer{Say::ended, found->count, found->since};
    states_.erase(found);
    return answer;
  }
  ++found->count;
  const bool changed = found->what != what;
  if (!changed && now - found->said < kStillEvery) return {};
  found->what = what;
  found->said = now;
  return {changed ? Say::changed : Say::still, found->count, found->since};
}

}  // namespace outcomed
