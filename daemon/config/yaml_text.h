// The text of a YAML file before it is parsed: checked, its line ends made equal, and with a map
// from bytes to lines and columns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/problem.h"

namespace outcomed {

struct TextFault {
  Place place;
  std::string message;
  std::string hint;
};

class YamlText {
 public:
  // Drops a byte order mark; CRLF and CR become LF.
  explicit YamlText(std::string_view raw);

  [[nodiscard]] const std::string& text() const { return text_; }
  // The line and the character that the byte at `offset` belongs to. Cheap when asked for nearby
  // places in turn, however long the line.
  [[nodiscard]] Place place(std::size_t offset) const;

  // What makes the text unfit for parsing: too large, not UTF-8 (or UTF-16), control characters,
  // directives (lines that begin with %).
  [[nodiscard]] std::optional<TextFault> find_fault() const;

  // Whether the quoted text that starts at `offset` ends before the file does: the end of a
  // half-written file looks to yaml-cpp like a closing quote. True where no quote stands there.
  [[nodiscard]] bool quote_closes(std::size_t offset) const;

  // yaml-cpp's complaint in the words of somebody who has to repair the file. `open_since` is the
  // innermost [ or { that was open.
  [[nodiscard]] TextFault explain_syntax_error(std::size_t offset, std::string_view complaint,
                                               std::optional<Place> open_since) const;

 private:
  [[nodiscard]] std::string_view line_at(std::size_t index) const;
  [[nodiscard]] std::size_t line_index(std::size_t offset) const;

  std::string text_;
  std::vector<std::size_t> line_starts_;
  // Where place() was asked last: byte, and characters before it in its line.
  mutable std::size_t last_offset_ = 0;
  mutable std::size_t last_column_ = 0;
};

// C0, DEL and C1, but for tab and line ends.
bool has_control_character(std::string_view utf8);

}  // namespace outcomed
