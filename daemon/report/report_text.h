// A report in words and columns, for the terminal and for Markdown alike.
#pragma once

#include <string>
#include <vector>

namespace outcomed {

struct ReportTable {
  std::string title;
  std::vector<std::string> headings;  // '>' first: flush right.
  std::vector<std::vector<std::string>> rows;
};

struct ReportText {
  std::string opening;
  std::vector<ReportTable> tables;
  std::vector<std::string> remarks;  // Sentences: what to mind when reading it.
};

// GitHub's tables; numbers and names of untrusted files can't leave their cell.
std::string to_markdown(const ReportText& text);

}  // namespace outcomed
