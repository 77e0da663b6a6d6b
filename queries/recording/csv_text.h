// RFC 4180: comma-separated fields, quoted where they hold commas, quotes or line ends.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "queries/base/result.h"

namespace outcomed {

struct CsvField {
  std::string_view text;   // Unquoted; lives until the next record is read.
  std::size_t column = 0;  // Where it begins in its line, in bytes from 1.
};

// Reads records out of a whole text. LF and CRLF end a record; a byte order mark and empty lines
// are skipped. The text must outlive the reader.
class CsvReader {
 public:
  static constexpr std::size_t kMaxFields = 256;

  explicit CsvReader(std::string_view text);

  // False at the end of the text. Errors: invalid (an unclosed quote, a quote inside a bare field,
  // a NUL) at line() and column(); reading can't go on after one.
  Result<bool> next(std::vector<CsvField>& fields);
  // The line on which the record read last begins, from 1; after an error, the place of the fault.
  [[nodiscard]] std::size_t line() const { return record_line_; }
  [[nodiscard]] std::size_t column() const { return column_; }

 private:
  Status read_field(CsvField& field);
  Status read_quoted(CsvField& field);
  Error bad(std::string_view what);
  Error bad(std::string_view what, std::size_t line, std::size_t column);
  void skip_empty_lines();
  bool at_line_end() const;
  void skip_line_end();

  std::string_view text_;
  std::size_t pos_ = 0;
  std::size_t line_begin_ = 0;
  std::size_t line_ = 1;
  std::size_t record_line_ = 0;
  std::size_t column_ = 1;
  // Fields whose quotes were doubled, put together; never moved while a record is in use.
  std::vector<std::string> unquoted_;
  std::size_t unquoted_used_ = 0;
};

// The field as a writer must write it.
std::string csv_field(std::string_view text);

}  // namespace outcomed
