// The inside of the braces of a sample line: name="value",name="value".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace outcomed {

// Walks the label pairs of `text` from `pos` on, without copying. The same walk checks a line and,
// later, unescapes it.
class LabelWalk {
 public:
  explicit LabelWalk(std::string_view text, std::size_t pos = 0) : text_(text), pos_(pos) {}

  // Reads the next pair. False at '}', at the end of the text, or after a fault.
  bool next();

  [[nodiscard]] std::string_view name() const { return name_; }    // Still escaped where quoted.
  [[nodiscard]] std::string_view value() const { return value_; }  // Still escaped.
  // True for a quoted text without '=': the metric's name in the form {"name",label="value"}.
  [[nodiscard]] bool is_metric_name() const { return metric_name_; }
  // Where reading stopped: at the '}' when all went well.
  [[nodiscard]] std::size_t position() const { return pos_; }
  // What was wrong; null where nothing was.
  [[nodiscard]] const char* fault() const { return fault_; }

 private:
  void skip_blanks();
  bool quoted(std::string_view& out);
  bool fail(const char* what);

  std::string_view text_;
  std::size_t pos_;
  std::string_view name_;
  std::string_view value_;
  bool metric_name_ = false;
  bool first_ = true;
  const char* fault_ = nullptr;
};

// \\ \" \n; other escapes stay as they are. Invalid UTF-8 becomes U+FFFD.
std::string unescape_label(std::string_view raw);

}  // namespace outcomed
