#include "queries/postgres/sql_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "queries/base/ascii.h"

namespace outcomed {
namespace {

bool is_word(char c) { return is_name_char(c) || static_cast<unsigned char>(c) >= 0x80; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

Error invalid(std::string message) { return {ErrorKind::invalid, std::move(message)}; }

// Walks over the text once and copies it, placeholders replaced.
class SqlScanner {
 public:
  SqlScanner(std::string_view sql, bool of_range) : sql_(sql), of_range_(of_range) {}

  Result<SqlText> scan() {
    while (at_ < sql_.size()) {
      if (Status status = step(); !status) return std::move(status).error();
    }
    while (!out_.empty() && is_space(out_.back())) out_.pop_back();
    constexpr std::array<std::string_view, 4> kFirst = {"select", "with", "values", "table"};
    if (std::ranges::find(kFirst, first_word_) == kFirst.end()) {
      return invalid("not a query: begin with select or with");
    }
    if (of_range_ && (!from_ || !to_)) {
      return invalid(
          fmt::format("{} is missing: without it every tick would read the whole table; write "
                      "where at >= :from and at < :to",
                      from_ ? ":to" : ":from"));
    }
    return SqlText{std::move(out_)};
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < sql_.size() ? sql_[at_ + ahead] : '\0';
  }
  void copy(std::size_t count) {
    out_ += sql_.substr(at_, count);
    at_ = std::min(sql_.size(), at_ + count);
  }

  Status step() {
    const char c = peek();
    if (ended_ && !is_space(c) && !(c == '-' && peek(1) == '-') && !(c == '/' && peek(1) == '*')) {
      return invalid("more than one statement: write one query");
    }
    if (c == '\0') return invalid("holds a NUL byte");
    if (c == '\'' || c == '"') return quoted(c);
    if (c == '-' && peek(1) == '-') return line_comment();
    if (c == '/' && peek(1) == '*') return block_comment();
    if (c == '$') return dollar();
    if (c == ':') return colon();
    if (c == ';') {
      ended_ = true;
      ++at_;
      return ok();
    }
    if (is_word(c)) return word();
    copy(1);
    return ok();
  }

  Status word() {
    std::size_t size = 1;
    while (is_word(peek(size)) || peek(size) == '$') ++size;
    const std::string_view text = sql_.substr(at_, size);
    // E'…' with backslashes; the server's own strings don't know them
    // (standard_conforming_strings).
    if ((text == "e" || text == "E") && peek(size) == '\'') {
      copy(size);
      return quoted('\'', true);
    }
    if (first_word_.empty()) first_word_ = lower_case(text);
    copy(size);
    return ok();
  }

  Status quoted(char quote, bool backslashes = false) {
    copy(1);
    while (at_ < sql_.size()) {
      if ((backslashes && peek() == '\\') || (peek() == quote && peek(1) == quote)) {
        copy(2);
      } else if (peek() == quote) {
        copy(1);
        return ok();
      } else {
        copy(1);
      }
    }
    return invalid(fmt::format("a quote ({}) is not closed", quote));
  }

  Status line_comment() {
    while (at_ < sql_.size() && peek() != '\n') ++at_;
    out_ += ' ';
    return ok();
  }

  // They nest in PostgreSQL.
  Status block_comment() {
    int depth = 0;
    do {
      if (at_ >= sql_.size()) return invalid("a comment (/*) is not closed");
      if (peek() == '/' && peek(1) == '*') {
        ++depth;
        at_ += 2;
      } else if (peek() == '*' && peek(1) == '/') {
        --depth;
        at_ += 2;
      } else {
        ++at_;
      }
    } while (depth > 0);
    out_ += ' ';
    return ok();
  }

  Status dollar() {
    if (is_digit(peek(1))) {
      return invalid(of_range_ ? "has a parameter of its own ($1): write :from and :to"
                               : "has a parameter ($1): write its value");
    }
    std::size_t size = 1;
    while (is_word(peek(size))) ++size;
    if (peek(size) != '$') {
      copy(1);
      return ok();
    }
    const std::string_view tag = sql_.substr(at_, size + 1);
    const auto end = sql_.find(tag, at_ + tag.size());
    if (end == std::string_view::npos) return invalid("a dollar quote is not closed");
    copy(end + tag.size() - at_);
    return ok();
  }

  Status colon() {
    if (peek(1) == ':' || peek(1) == '=') {
      copy(2);
      return ok();
    }
    std::size_t size = 1;
    while (is_word(peek(size))) ++size;
    const std::string_view name = sql_.substr(at_ + 1, size - 1);
    if (name.empty() || is_digit(name.front())) {  // A slice of an array: a[1:2].
      copy(1);
      return ok();
    }
    if (!of_range_) {
      return invalid(fmt::format("has a parameter (:{}): write its value", name.substr(0, 40)));
    }
    if (name != "from" && name != "to") {
      return invalid(fmt::format(":{} is unknown: there are :from and :to", name.substr(0, 40)));
    }
    (name == "from" ? from_ : to_) = true;
    out_ += name == "from" ? "$1" : "$2";
    at_ += size;
    return ok();
  }

  std::string_view sql_;
  bool of_range_;  // With :from and :to.
  std::size_t at_ = 0;
  std::string out_;
  std::string first_word_;
  bool from_ = false;
  bool to_ = false;
  bool ended_ = false;
};

}  // namespace

Result<SqlText> parse_sql_text(std::string_view sql) { return SqlScanner(sql, true).scan(); }

Result<SqlText> parse_whole_query(std::string_view sql) { return SqlScanner(sql, false).scan(); }

std::string quote_identifier(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

Result<std::string> quote_table_name(std::string_view name) {
  const auto wrong = [](std::string_view why) {
    return invalid(fmt::format("{}: write scores, public.scores or \"Odd name\"", why));
  };
  if (name.find('\0') != std::string_view::npos) return wrong("holds a NUL byte");
  std::string out;
  int parts = 0;
  for (std::size_t at = 0;; ++at) {
    std::string part;
    if (at < name.size() && name[at] == '"') {
      for (++at;; ++at) {
        if (at >= name.size()) return wrong("a quote (\") is not closed");
        if (name[at] == '"' && (at + 1 >= name.size() || name[at + 1] != '"')) break;
        if (name[at] == '"') ++at;
        part += name[at];
      }
      if (++at < name.size() && name[at] != '.') return wrong("has text behind a quoted name");
    } else {
      const std::size_t end = std::min(name.find('.', at), name.size());
      part = name.substr(at, end - at);
      if (part.find('"') != std::string::npos) return wrong("has a quote inside a name");
      at = end;
    }
    if (part.empty()) return wrong("a part of the name is empty");
    if (++parts > 2) return wrong("has more parts than schema and table");
    out += (parts == 1 ? "" : ".") + quote_identifier(part);
    if (at >= name.size()) return out;
  }
}

}  // namespace outcomed
