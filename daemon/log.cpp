#include "daemon/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>

#include "queries/base/utf8.h"

namespace outcomed {
namespace {

constexpr std::size_t kLongestValue = 2000;
constexpr Duration kStillEvery = std::chrono::minutes(10);

constexpr std::size_t kMostConditions = 1000;

// C0 and C1 controls, DEL, the line and paragraph separators, and what turns the direction of
// writing (U+200E/F, U+202A-202E, U+2066-2069): a terminal would show another line than the one
// written.
bool is_harmful(std::string_view c) {
  if (c.size() == 1) return static_cast<unsigned char>(c[0]) < 0x20 || c[0] == 0x7f;
  if (c.size() == 2) return c[0] == '\xc2' && static_cast<unsigned char>(c[1]) < 0xa0;
  if (c.size() != 3 || c[0] != '\xe2') return false;
  const auto last = static_cast<unsigned char>(c[2]);
  if (c[1] == '\x80') return last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae);
  return c[1] == '\x81' && last >= 0xa6 && last <= 0xa9;
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

constexpr std::array<std::string_view, 4> kLevelNames = {"debug", "info", "warn", "error"};

std::string_view level_name(LogLevel level) { return kLevelNames[static_cast<std::size_t>(level)]; }

class StderrLogger final : public Logger {
 public:
  StderrLogger(LogLevel least, std::function<void()> on_warning)
      : on_warning_(std::move(on_warning)),
        logger_("outcomed", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger_.set_pattern("ts=%Y-%m-%dT%H:%M:%S.%eZ %v", spdlog::pattern_time_type::utc);
    logger_.set_level(level_of(least));
    logger_.flush_on(spdlog::level::trace);
  }

  void log(LogLevel level, std::string_view event, const LogFields& fields) override {
    if (!logger_.should_log(level_of(level))) return;
    // spdlog would write "warning", which is not what the flag is called.
    logger_.log(level_of(level), "level={} {}", level_name(level), logfmt(event, fields));
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
  const auto name = std::ranges::find(kLevelNames, text);
  if (name != kLevelNames.end()) return static_cast<LogLevel>(name - kLevelNames.begin());
  return Error{ErrorKind::invalid,
               fmt::format("\"{}\" is none of debug, info, warn, error", text.substr(0, 40))};
}

RepeatLimiter::Answer RepeatLimiter::seen(const std::string& key, const std::string& what,
                                          Timestamp now) {
  const auto found = std::ranges::find(states_, key, &State::key);
  if (found == states_.end()) {
    if (what.empty()) return {};
    if (states_.size() >= kMostConditions) {
      states_.erase(std::ranges::min_element(states_, {}, &State::seen));
    }
    states_.push_back({key, what, now, now, now, 1});
    return {Say::started, 1, now};
  }
  if (what.empty()) {
    const Answer answer{Say::ended, found->count, found->since};
    states_.erase(found);
    return answer;
  }
  ++found->count;
  found->seen = now;
  const bool changed = found->what != what;
  if (!changed && now - found->said < kStillEvery) return {};
  found->what = what;
  found->said = now;
  return {changed ? Say::changed : Say::still, found->count, found->since};
}

}  // namespace outcomed
