// The names of a query's result columns, read off its text.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "queries/base/ascii.h"
#include "queries/postgres/sql_text.h"

namespace outcomed {
namespace {

struct Token {
  enum class Kind { word, quoted, other };
  Kind kind = Kind::other;
  std::string text;  // Words in lower case; quoted names as they are; else one character.
  int depth = 0;     // Of parentheses and brackets around it.
};

bool is_word_byte(char c) {
  return is_alphanumeric(c) || c == '_' || c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

// End of what a quote at `at` begins; quotes are closed, parse_sql_text saw to that.
std::size_t end_of_quote(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (text[at] != quote) continue;
    if (at + 1 >= text.size() || text[at + 1] != quote) return at + 1;
    ++at;
  }
  return text.size();
}

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  int depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\'' || c == '"') {
      const std::size_t end = end_of_quote(text, at);
      const bool name = c == '"';
      tokens.push_back({name ? Token::Kind::quoted : Token::Kind::other,
                        name ? std::string(text.substr(at + 1, end - at - 2)) : "'", depth});
      at = end;
    } else if (is_word_byte(c)) {
      std::size_t end = at;
      while (end < text.size() && is_word_byte(text[end])) ++end;
      std::string word = lower_case(text.substr(at, end - at));
      tokens.push_back({Token::Kind::word, std::move(word), depth});
      at = end;
    } else {
      if (c == ')' || c == ']') --depth;
      if (c > ' ') tokens.push_back({Token::Kind::other, std::string(1, c), depth});
      if (c == '(' || c == '[') ++depth;
      ++at;
    }
  }
  return tokens;
}

bool ends_list(const std::vector<Token>& tokens, std::size_t at) {
  constexpr std::array<std::string_view, 12> kEnds = {"from",      "where",  "group",  "having",
                                                      "window",    "union",  "order",  "limit",
                                                      "intersect", "except", "offset", "fetch"};
  if (tokens[at].kind != Token::Kind::word || tokens[at].depth != 0) return false;
  const bool distinct = at > 0 && tokens[at - 1].text == "distinct";  // a is distinct from b
  return !distinct && std::ranges::find(kEnds, tokens[at].text) != kEnds.end();
}

// The name of one item, as the server makes it; nothing where it can't be told.
std::optional<std::string> name_of(std::vector<Token> item) {
  std::erase_if(item, [](const Token& token) { return token.depth != 0; });
  const auto is = [&](std::size_t from_end, std::string_view text) {
    return item.size() > from_end && item[item.size() - 1 - from_end].text == text;
  };
  // Casts keep the name of what they are applied to: x::date.
  while (item.size() > 3 && is(1, ":") && is(2, ":")) item.resize(item.size() - 3);
  if (item.empty()) return std::nullopt;
  if (item.back().kind != Token::Kind::other) {
    // After an operator it is an operand, not a name.
    const Token* const before = item.size() > 1 ? &item[item.size() - 2] : nullptr;
    const bool operand = before != nullptr && before->kind == Token::Kind::other &&
                         std::string_view(".)]'").find(before->text) == std::string_view::npos;
    if (operand) return std::nullopt;
    if (item.back().text == "end") return "case";
    return item.back().text;
  }
  // A call without a name of its own: count(*).
  if (item.size() >= 3 && is(0, ")") && is(1, "(") && item.size() == 3) return item.front().text;
  return std::nullopt;
}

}  // namespace

Result<std::vector<std::string>> sql_label_columns(std::string_view sql) {
  const auto parsed = parse_sql_text(sql);
  if (!parsed) return parsed.error();
  const std::vector<Token> tokens = tokens_of(parsed->text);
  std::size_t at = 0;
  const auto is_select = [](const Token& token) {
    return token.kind == Token::Kind::word && token.depth == 0 && token.text == "select";
  };
  while (at < tokens.size() && !is_select(tokens[at])) ++at;
  std::vector<std::optional<std::string>> names;
  std::vector<Token> item;
  for (++at; at <= tokens.size(); ++at) {
    const bool end = at == tokens.size() || ends_list(tokens, at);
    if (end || (tokens[at].depth == 0 && tokens[at].text == ",")) {
      names.push_back(name_of(std::move(item)));
      item.clear();
      if (end) break;
      continue;
    }
    item.push_back(tokens[at]);
  }
  std::vector<std::string> labels;
  std::array<bool, 3> there{};
  constexpr std::array<std::string_view, 3> kNumbers = {"at", "n", "k"};
  for (const auto& name : names) {
    if (!name) {
      return Error{ErrorKind::invalid,
                   "can't tell the names of its columns: name them with `as`, or write labels:"};
    }
    const auto number = std::ranges::find(kNumbers, *name);
    if (number == kNumbers.end()) {
      labels.push_back(*name);
    } else {
      there[static_cast<std::size_t>(number - kNumbers.begin())] = true;
    }
  }
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (!there[i]) {
      return Error{
          ErrorKind::invalid,
          fmt::format("returns no column {}: return at, n, k and the labels", kNumbers[i])};
    }
  }
  return labels;
}

}  // namespace outcomed
