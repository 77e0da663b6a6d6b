// Streaming reader of metrics pages: Prometheus' text format 0.0.4 and OpenMetrics 1.0 text.
//
// Reads what a strict writer writes and refuses the rest with the line's number, as Prometheus
// does: one bad line spoils the page, since a counter read wrongly is worse than a gap. More
// tolerant than the specifications where nothing can be misread: blanks between parts, empty lines,
// CRLF, label names in any order, unknown escapes in label values (kept as they stand), quoted
// UTF-8 names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "queries/base/labels.h"
#include "queries/base/result.h"

namespace outcomed {

enum class TextFormat {
  prometheus,   // Timestamps are whole milliseconds. Ends with a newline.
  openmetrics,  // Timestamps are seconds. Ends with "# EOF"; exemplars may follow a value.
};

// One value of a page. The views point into the page and live only during the call.
struct TextSample {
  std::string_view name;
  std::string_view series;       // Name and braces as written: the same bytes, the same series …
  std::string_view labels_text;  // … what stands between the braces.
  bool ordered = true;           // … where the label names ascend strictly; else see key().
  double value = 0;              // May be NaN or infinite.
  std::optional<std::int64_t> at_ms;

  // All labels, "__name__" among them, unescaped. Invalid UTF-8 becomes U+FFFD. Not cheap: meant to
  // be called once for each series.
  [[nodiscard]] Labels labels() const;
  // Identifies the series within its page whatever the order of its labels. `scratch` holds the
  // text where one has to be made.
  [[nodiscard]] std::string_view key(std::string& scratch) const;
};

// Feed the page in pieces of any size, then finish(). After an error every further call repeats it.
class TextParser {
 public:
  // Lines of names that are not wanted are skipped unread (but for their name): a page is mostly
  // histogram buckets. Must answer the same for the same name.
  using Wants = std::function<bool(std::string_view name)>;
  using OnSample = std::function<Status(const TextSample&)>;

  static constexpr std::size_t kMaxLine = 1 << 20;
  static constexpr std::size_t kMaxLabels = 128;

  TextParser(TextFormat format, Wants wants, OnSample on_sample);

  // Errors: corrupt ("line 17: …"), or what on_sample returned with the line's number before it.
  Status feed(std::string_view piece);
  // The page must be complete: its last line ended, and "# EOF" seen in OpenMetrics.
  Status finish();

  [[nodiscard]] std::size_t lines() const { return line_; }
  [[nodiscard]] bool saw_eof_mark() const { return eof_; }

 private:
  Status read_line(std::string_view line);
  Status read_sample(std::string_view line);
  Status read_braces(std::string_view line, std::size_t& pos, TextSample& sample) const;
  Status check_unique(std::string_view labels_text) const;
  Status read_value(std::string_view line, std::size_t pos, TextSample& sample) const;
  bool wanted(std::string_view name);
  Error bad(std::string_view what) const;

  TextFormat format_;
  Wants wants_;
  OnSample on_sample_;
  std::string carry_;      // The beginning of a line whose end has not arrived.
  std::string last_name_;  // Lines of a family follow each other: ask wants_ once.
  bool last_wanted_ = false;
  bool eof_ = false;
  std::size_t line_ = 0;
  std::optional<Error> failed_;
};

}  // namespace outcomed
