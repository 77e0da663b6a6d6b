#include "queries/recording/csv_text.h"

#include <fmt/core.h>

namespace outcomed {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

CsvReader::CsvReader(std::string_view text) : text_(text) {
  if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
  unquoted_.reserve(kMaxFields);
}

Error CsvReader::bad(std::string_view what) { return bad(what, line_, pos_ - line_begin_ + 1); }

Error CsvReader::bad(std::string_view what, std::size_t line, std::size_t column) {
  record_line_ = line;
  column_ = column;
  return {ErrorKind::invalid, std::string(what)};
}

bool CsvReader::at_line_end() const {
  return text_[pos_] == '\n' ||
         (text_[pos_] == '\r' && pos_ + 1 < text_.size() && text_[pos_ + 1] == '\n') ||
         (text_[pos_] == '\r' && pos_ + 1 == text_.size());
}

void CsvReader::skip_line_end() {
  if (text_[pos_] == '\r') ++pos_;
  if (pos_ < text_.size()) ++pos_;
  ++line_;
  line_begin_ = pos_;
}

void CsvReader::skip_empty_lines() {
  while (pos_ < text_.size() && at_line_end()) skip_line_end();
}

Result<bool> CsvReader::next(std::vector<CsvField>& fields) {
  fields.clear();
  unquoted_used_ = 0;
  skip_empty_lines();
  if (pos_ >= text_.size()) return false;
  record_line_ = line_;
  while (true) {
    if (fields.size() == kMaxFields) return bad(fmt::format("more than {} fields", kMaxFields));
    CsvField field;
    if (Status status = read_field(field); !status) return std::move(status).error();
    fields.push_back(field);
    if (pos_ >= text_.size()) return true;
    if (at_line_end()) {
      skip_line_end();
      return true;
    }
    ++pos_;  // The comma.
  }
}

Status CsvReader::read_field(CsvField& field) {
  field.column = pos_ - line_begin_ + 1;
  if (pos_ < text_.size() && text_[pos_] == '"') return read_quoted(field);
  const std::size_t begin = pos_;
  while (pos_ < text_.size() && text_[pos_] != ',' && !at_line_end()) {
    if (text_[pos_] == '"') return bad("a quote inside a field that doesn't begin with one");
    if (text_[pos_] == '\0') return bad("holds a NUL byte");
    ++pos_;
  }
  field.text = text_.substr(begin, pos_ - begin);
  return ok();
}

Status CsvReader::read_quoted(CsvField& field) {
  const std::size_t first_line = line_;
  const std::size_t begin = ++pos_;
  bool doubled = false;
  for (;; ++pos_) {
    if (pos_ >= text_.size()) {
      return bad("the quote that begins here isn't closed", first_line, field.column);
    }
    if (text_[pos_] == '\0') return bad("holds a NUL byte");
    if (text_[pos_] == '\n') {
      ++line_;
      line_begin_ = pos_ + 1;
    }
    if (text_[pos_] != '"') continue;
    if (pos_ + 1 >= text_.size() || text_[pos_ + 1] != '"') break;
    doubled = true;
    ++pos_;
  }
  field.text = text_.substr(begin, pos_ - begin);
  ++pos_;
  if (pos_ < text_.size() && text_[pos_] != ',' && !at_line_end()) {
    return bad("after a closing quote comes a comma or the line's end");
  }
  if (!doubled) return ok();
  if (unquoted_.size() == unquoted_used_) unquoted_.emplace_back();
  std::string& plain = unquoted_[unquoted_used_++];
  plain.clear();
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    plain += field.text[i];
    if (field.text[i] == '"') ++i;
  }
  field.text = plain;
  return ok();
}

std::string csv_field(std::string_view text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos &&
                     (text.empty() || (text.front() != ' ' && text.back() != ' '));
  if (plain) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace outcomed
