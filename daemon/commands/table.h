// Text tables for people: columns as wide as they must be, numbers to the right.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "daemon/report/report_text.h"
#include "detectors/sentence.h"
#include "queries/source.h"

namespace outcomed {

class Table {
 public:
  // A heading that begins with '>' makes its column flush right.
  explicit Table(std::vector<std::string> headings);
  void row(std::vector<std::string> cells);
  void print(std::ostream& out) const;
  [[nodiscard]] bool empty() const { return rows_.empty(); }

 private:
  std::vector<std::string> headings_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// The whole report: opening, tables under their titles, remarks.
void print(std::ostream& out, const ReportText& text);

// "note: late_rows LiteLLM_SpendLogs: …", a line.
std::string note_line(const Problem& problem);

// One CSV line (RFC 4180).
std::string csv_line(const std::vector<std::string>& cells);

// "2026-11-30 12:04:05Z" for a table; "-" for no time.
std::string short_time(const std::string& rfc3339);

}  // namespace outcomed
