#include "daemon/commands/table.h"

#include <algorithm>
#include <ostream>

namespace outcomed {
namespace {

// Code points, not bytes: model names may hold any UTF-8.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

std::string note_line(const Problem& problem) {
  const std::string where = problem.where.empty() ? "" : " " + problem.where;
  return printable("note: " + problem.what + where + ": " + problem.message) + "\n";
}

Table::Table(std::vector<std::string> headings) : headings_(std::move(headings)) {
  for (std::string& heading : headings_) {
    right_.push_back(heading.starts_with('>'));
    if (right_.back()) heading.erase(0, 1);
  }
}

void Table::row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = printable(cell);
  cells.resize(headings_.size());
  rows_.push_back(std::move(cells));
}

void Table::print(std::ostream& out) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < headings_.size(); ++i) {
    std::size_t width = width_of(headings_[i]);
    for (const auto& row : rows_) width = std::max(width, width_of(row[i]));
    widths.push_back(width);
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string pad(widths[i] - width_of(cells[i]), ' ');
      text += right_[i] ? pad + cells[i] : cells[i] + pad;
      text += "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << "\n";
  };
  const bool headed = std::ranges::any_of(headings_, [](const auto& h) { return !h.empty(); });
  if (headed) line(headings_);
  for (const auto& row : rows_) line(row);
}

void print(std::ostream& out, const ReportText& text) {
  out << text.opening << "\n";
  for (const ReportTable& part : text.tables) {
    out << "\n" << part.title << "\n\n";
    Table table(part.headings);
    for (const auto& row : part.rows) table.row(row);
    table.print(out);
  }
  if (!text.remarks.empty()) out << "\n";
  for (const std::string& remark : text.remarks) out << remark << "\n";
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    if (cells[i].find_first_of(",\"\n\r") == std::string::npos) {
      line += cells[i];
      continue;
    }
    line += '"';
    for (const char c : cells[i]) {
      if (c == '"') line += '"';
      line += c;
    }
    line += '"';
  }
  return line + "\n";
}

std::string short_time(const std::string& rfc3339) {
  if (rfc3339.size() < 20) return "-";
  std::string text = rfc3339;
  text[10] = ' ';
  return text;
}

}  // namespace outcomed
