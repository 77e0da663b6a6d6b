#include "queries/recording/csv_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "queries/recording/csv_text.h"

namespace outcomed {
namespace {

// The groups of one table: which label sets share an n, and which split k below it.
struct Groups {
  explicit Groups(const std::vector<std::string>& labels, const BucketTable& table) {
    std::vector<std::string> splitting;
    for (const std::string& name : labels) {
      const auto& failure = table.plan->failure_labels;
      const auto& own = table.plan->labels;
      const bool only_k = std::ranges::find(failure, name) != failure.end() &&
                          std::ranges::find(own, name) == own.end();
      if (!only_k) splitting.push_back(name);
    }
    for (const Labels& cell : *table.cells) {
      owners.push_back(cell.project(splitting));
      parts.push_back(cell.project(labels));
    }
  }

  std::vector<Labels> owners;  // By cell.
  std::vector<Labels> parts;   // By cell.
};

struct Counts {
  std::int64_t n = 0;
  std::map<Labels, std::int64_t> k;
};

std::string row_tail(const Labels& labels, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += ',' + csv_field(labels.get(name));
  return text;
}

}  // namespace

void write_buckets_csv_header(std::ostream& out, const std::vector<std::string>& labels) {
  out << "signal,start,seconds,n,k";
  for (const std::string& name : labels) out << ',' << csv_field(name);
  out << '\n';
}

std::size_t write_buckets_csv(std::ostream& out, const std::vector<std::string>& labels,
                              const BucketTable& table) {
  const SignalBatch& batch = *table.batch;
  const Groups groups(labels, table);
  const std::string name = csv_field(table.plan->name);
  std::size_t left_out = 0;
  for (std::size_t step = 0; step < batch.steps(); ++step) {
    if (batch.coverage[step] != Coverage::complete) {
      ++left_out;
      continue;
    }
    std::map<Labels, Counts> rows;
    for (std::size_t cell = 0; cell < groups.owners.size(); ++cell) {
      const std::size_t at = cell * batch.steps() + step;
      const std::int64_t n = at < batch.n.size() ? batch.n[at] : 0;
      const std::int64_t k = at < batch.k.size() ? batch.k[at] : 0;
      if (n == 0 && k == 0) continue;
      Counts& counts = rows[groups.owners[cell]];
      counts.n += n;
      if (k != 0) counts.k[groups.parts[cell]] += k;
    }
    if (rows.empty()) rows[{}];
    const std::string head = fmt::format(
        "{},{},{}", name,
        format_rfc3339(batch.range.begin + batch.step * static_cast<std::int64_t>(step)),
        batch.step.count() / 1000);
    for (auto& [owner, counts] : rows) {
      if (counts.k.empty()) counts.k[owner] = 0;
      for (const auto& [part, k] : counts.k) {
        out << head << ',' << counts.n << ',' << k << row_tail(part, labels) << '\n';
      }
    }
  }
  return left_out;
}

}  // namespace outcomed
