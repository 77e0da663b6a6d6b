#include "queries/recording/bucket_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <tuple>
#include <unordered_map>

#include "queries/recording/column_roles.h"
#include "queries/recording/csv_rows.h"

namespace outcomed {
namespace {

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::string join_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Turns the rows of one signal into cells: says which rows share an n, and sums what the signal
// doesn't tell apart.
class RowSettler {
 public:
  RowSettler(const SignalPlan& plan, const CsvRows& csv, std::vector<CsvRow> rows,
             CsvFaults& faults)
      : plan_(plan), csv_(csv), rows_(std::move(rows)), faults_(faults) {}

  SignalRows settle(std::vector<std::string>& facts);

 private:
  void choose_owners(std::vector<std::string>& facts);
  void check_duplicates();
  void settle_group(std::span<const CsvRow> group, SignalRows& out);
  CellId cell(std::uint32_t labels, bool with_failure_labels, SignalRows& out);

  const SignalPlan& plan_;
  const CsvRows& csv_;
  std::vector<CsvRow> rows_;
  CsvFaults& faults_;
  std::vector<std::uint32_t> owner_;  // By label set: rows of one step and owner share one n.
  std::unordered_map<Labels, CellId, LabelsHash> cells_;
  std::unordered_map<std::uint64_t, CellId> cell_of_set_;
};

// Rows that differ only in failure labels share n.
void RowSettler::choose_owners(std::vector<std::string>& facts) {
  std::vector<bool> splits(csv_.label_names.size());
  std::vector<std::size_t> undeclared;
  for (std::size_t i = 0; i < csv_.label_names.size(); ++i) {
    const std::string& name = csv_.label_names[i];
    splits[i] = holds(plan_.labels, name) || holds(plan_.unused_labels, name);
    const bool known =
        splits[i] || holds(plan_.failure_labels, name) || holds(plan_.unused_failure_labels, name);
    const bool used = std::ranges::any_of(
        rows_, [&](const CsvRow& row) { return !csv_.sets.at(row.labels)[i].empty(); });
    if (!known && used) undeclared.push_back(i);
  }
  const bool matters = find_splitting_columns(csv_.sets, rows_, undeclared, splits);
  owner_ = project_sets(csv_.sets, splits);
  if (!matters) return;
  for (const bool splitting : {true, false}) {
    std::vector<std::string> names;
    for (const std::size_t i : undeclared) {
      if (splits[i] == splitting) names.push_back(csv_.label_names[i]);
    }
    if (names.empty()) continue;
    facts.push_back(fmt::format("signal {} doesn't declare the column(s) {}; its rows {}",
                                plan_.name, join_names(names),
                                splitting ? "have an n of their own there and were added up"
                                          : "repeat n there, so they were read as failure labels"));
  }
}

void RowSettler::check_duplicates() {
  std::ranges::sort(rows_, [](const CsvRow& a, const CsvRow& b) {
    return std::tie(a.step, a.labels, a.line) < std::tie(b.step, b.labels, b.line);
  });
  for (std::size_t i = 1; i < rows_.size(); ++i) {
    const CsvRow& a = rows_[i - 1];
    const CsvRow& b = rows_[i];
    if (a.step != b.step || a.labels != b.labels) continue;
    faults_.add(b.line, 1,
                fmt::format("line {} already tells this signal, step and labels{}", a.line,
                            a.n == b.n && a.k == b.k ? "" : ", with other numbers"));
  }
}

CellId RowSettler::cell(std::uint32_t labels, bool with_failure_labels, SignalRows& out) {
  const std::uint64_t key = (std::uint64_t{labels} << 1) | (with_failure_labels ? 1U : 0U);
  if (const auto found = cell_of_set_.find(key); found != cell_of_set_.end()) return found->second;
  Labels names;
  for (std::size_t i = 0; i < csv_.label_names.size(); ++i) {
    const std::string& name = csv_.label_names[i];
    if (holds(plan_.labels, name) || (with_failure_labels && holds(plan_.failure_labels, name))) {
      names.set(name, csv_.sets.at(labels)[i]);
    }
  }
  const auto [at, fresh] = cells_.try_emplace(names, static_cast<CellId>(out.cells.size()));
  if (fresh) out.cells.push_back(std::move(names));
  cell_of_set_.emplace(key, at->second);
  return at->second;
}

// The rows of one step that share an n.
void RowSettler::settle_group(std::span<const CsvRow> group, SignalRows& out) {
  const CsvRow& first = group.front();
  std::int64_t failures = 0;
  for (const CsvRow& row : group) {
    if (row.n != first.n) {
      faults_.add(row.line, 1,
                  fmt::format("n is {} here and {} in line {}, for the same step and labels", row.n,
                              first.n, first.line));
      return;
    }
    failures += row.k;
    if (row.k > 0) out.rows.push_back({row.step, cell(row.labels, true, out), 0, row.k});
  }
  if (failures > first.n) {
    faults_.add(first.line, 1,
                fmt::format("the k of the {} rows of this step and labels make {}, more than n, "
                            "which is {}",
                            group.size(), failures, first.n));
  }
  out.rows.push_back({first.step, cell(first.labels, false, out), first.n, 0});
}

SignalRows RowSettler::settle(std::vector<std::string>& facts) {
  SignalRows out;
  check_duplicates();
  choose_owners(facts);
  std::ranges::sort(rows_, [&](const CsvRow& a, const CsvRow& b) {
    return std::tie(a.step, owner_[a.labels], a.line) < std::tie(b.step, owner_[b.labels], b.line);
  });
  for (std::size_t begin = 0, end = 0; begin < rows_.size(); begin = end) {
    while (end < rows_.size() && rows_[end].step == rows_[begin].step &&
           owner_[rows_[end].labels] == owner_[rows_[begin].labels]) {
      ++end;
    }
    settle_group(std::span(rows_).subspan(begin, end - begin), out);
  }
  return out;
}

Problem unknown_signal(const std::string& file, const std::string& name, const CsvRows::Seen& seen,
                       const std::vector<std::string>& declared) {
  return {"unknown_signal", fmt::format("{}:{}", file, seen.first_line),
          fmt::format("no signal \"{}\" is declared, so {} rows were left out; declared: {}", name,
                      seen.count, join_names(declared))};
}

Problem moved_steps(const std::string& file, const SignalPlan& plan, const CsvRows::Seen& moved) {
  return {"steps_moved", fmt::format("{}:{}", file, moved.first_line),
          fmt::format("{} rows of signal {} don't start at a multiple of {} (UTC); they were moved "
                      "to the nearest one",
                      moved.count, plan.name, format_duration(plan.step))};
}

}  // namespace

Result<BucketRows> read_bucket_rows(const std::string& file, std::string_view text,
                                    const std::vector<SignalPlan>& plans) {
  CsvFaults faults(file);
  CsvRows csv = read_csv_rows(text, plans, faults);
  BucketRows result;
  bool any = false;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    any |= !csv.rows[i].empty();
    if (csv.moved[i].count > 0) {
      result.problems.push_back(moved_steps(file, plans[i], csv.moved[i]));
    }
    RowSettler settler(plans[i], csv, std::exchange(csv.rows[i], {}), faults);
    result.signals.push_back(settler.settle(result.facts));
  }
  std::vector<std::string> declared;
  for (const SignalPlan& plan : plans) declared.push_back(plan.name);
  for (const auto& [name, seen] : csv.unknown) {
    result.problems.push_back(unknown_signal(file, name, seen, declared));
  }
  if (!faults.none()) return faults.error();
  if (!any) {
    if (csv.count == 0) return Error{ErrorKind::invalid, file + ": holds no rows"};
    return Error{ErrorKind::invalid,
                 fmt::format("{}: no row belongs to a declared signal; it has {}, declared are {}",
                             file, csv.unknown.begin()->first, join_names(declared))};
  }
  return result;
}

}  // namespace outcomed
