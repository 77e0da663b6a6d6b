#include "daemon/report/report_text.h"

#include <string_view>

namespace outcomed {
namespace {

std::string cell_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      safe += ' ';
    } else {
      if (std::string_view("\\|`*_[]<>&#~").find(c) != std::string_view::npos) safe += '\\';
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string to_markdown(const ReportText& text) {
  std::string out = cell_text(text.opening) + "\n";
  for (const ReportTable& table : text.tables) {
    out += "\n### " + cell_text(table.title) + "\n\n|";
    std::string rule = "|";
    for (const std::string& heading : table.headings) {
      const bool right = heading.starts_with('>');
      out += " " + cell_text(right ? heading.substr(1) : heading) + " |";
      rule += right ? "---:|" : "---|";
    }
    out += "\n" + rule + "\n";
    for (const auto& row : table.rows) {
      out += "|";
      for (const std::string& cell : row) out += " " + cell_text(cell) + " |";
      out += "\n";
    }
  }
  if (!text.remarks.empty()) out += "\n";
  for (const std::string& remark : text.remarks) out += "- " + cell_text(remark) + "\n";
  return out;
}

}  // namespace outcomed
