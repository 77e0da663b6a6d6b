#include "tests/support/spend_rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/gzip_lines.h"

namespace outcomed::testing {
namespace {

using nlohmann::json;

// What lies at the names between quotes, one below the other; null where nothing does.
json follow(const json& metadata, const std::string& path) {
  const json* at = &metadata;
  for (std::size_t open = path.find('\''); open != std::string::npos;
       open = path.find('\'', open)) {
    const std::size_t close = path.find('\'', open + 1);
    const std::string name = path.substr(open + 1, close - open - 1);
    if (!at->is_object() || !at->contains(name)) return nullptr;
    at = &at->at(name);
    open = close + 1;
  }
  return *at;
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

std::vector<SpendRowText> read_spend_rows(const std::string& path) {
  std::vector<SpendRowText> rows;
  std::set<std::string> ids;
  for (const std::string& line : read_gzip_lines(path)) {
    const json whole = json::parse(line);
    SpendRowText row;
    for (const auto& [column, value] : whole.items()) {
      if (!value.is_null()) row[column] = text_of(value);
    }
    if (!ids.insert(row["request_id"]).second) {
      row["request_id"] += "-number-" + std::to_string(rows.size());
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string copy_line(const SpendRowText& row, const std::vector<std::string>& columns) {
  std::string line;
  for (const std::string& column : columns) {
    if (!line.empty()) line += '\t';
    const auto found = row.find(column);
    if (found == row.end()) {
      line += "\\N";
      continue;
    }
    for (const char c : found->second) {
      if (c == '\\' || c == '\t' || c == '\n' || c == '\r') line += '\\';
      line += c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : c;
    }
  }
  return line + "\n";
}

std::vector<MaybeText> take_from_metadata(const std::string& metadata,
                                          const std::vector<std::string>& expressions) {
  const json parsed = json::parse(metadata);
  std::vector<MaybeText> texts;
  for (const std::string& expression : expressions) {
    MaybeText found;
    std::string_view rest = expression;
    for (std::size_t at = rest.find("metadata"); at != std::string_view::npos && !found.there;
         at = rest.find("metadata")) {
      rest.remove_prefix(at + 8);
      const json value = follow(parsed, std::string(rest.substr(0, rest.find_first_of(",)"))));
      if (!value.is_null()) found = {true, text_of(value)};
    }
    texts.push_back(std::move(found));
  }
  return texts;
}

}  // namespace outcomed::testing
