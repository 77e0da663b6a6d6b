// Numbers of samples as servers write them in JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "queries/base/labels.h"
#include "queries/base/result.h"

namespace outcomed {

// A sample value without its quotes: a decimal number, NaN, Inf, +Inf or -Inf (also "Infinity", as
// VictoriaMetrics exports it). False for anything else: hexadecimal, "1e400", blanks, nothing.
bool parse_sample_value(std::string_view text, double& value);

// Unix seconds to milliseconds; false outside of the years 1 to 9999.
bool sample_time(double seconds, std::int64_t& at_ms);
// The same bounds for milliseconds.
bool is_sample_time(std::int64_t at_ms);

// At most `limit` bytes of untrusted text, one line, for a message.
std::string excerpt(std::string_view text, std::size_t limit = 200);

// Parses a JSON object of strings, {"__name__":"up","job":"x"}. The text must lie inside a buffer
// that is readable for kJsonPadding bytes beyond its end.
class LabelParser {
 public:
  LabelParser();
  ~LabelParser();
  LabelParser(LabelParser&&) noexcept;
  LabelParser& operator=(LabelParser&&) noexcept;

  Result<Labels> parse(std::string_view json);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

inline constexpr std::size_t kJsonPadding = 64;  // simdjson reads that far ahead.

// What to say of an answer that should be JSON and isn't, judged by how it begins.
Error not_json(std::string_view body, std::string_view expected);

}  // namespace outcomed
