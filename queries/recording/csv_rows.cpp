#include "queries/recording/csv_rows.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "queries/base/ascii.h"
#include "queries/base/utf8.h"
#include "queries/exposition/label_text.h"
#include "queries/recording/csv_text.h"

namespace outcomed {
namespace {

constexpr std::size_t kMaxFaultsShown = 20;
// So that no sum over a file can overflow.
constexpr std::int64_t kMaxCount = 1'000'000'000'000;
constexpr std::int64_t kMaxSeconds = 366LL * 86'400;
constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kDayMs = 24 * kHourMs;

// The columns that are no labels.
enum Fixed : std::size_t { kSignal, kStart, kSeconds, kN, kK, kFixedCount };
constexpr std::string_view kFixedNames[kFixedCount] = {"signal", "start", "seconds", "n", "k"};

bool is_column_name(std::string_view name) {
  return !name.empty() && is_name_start(name[0]) && std::ranges::all_of(name, is_name_char);
}

class RowReader {
 public:
  RowReader(const std::vector<SignalPlan>& plans, CsvFaults& faults, CsvRows& out)
      : plans_(plans), faults_(faults), out_(out) {
    out_.rows.resize(plans.size());
    out_.moved.resize(plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i) by_name_.emplace(plans[i].name, i);
  }

  void read(std::string_view text);

 private:
  bool read_header(const std::vector<CsvField>& fields, std::size_t line);
  void find_fixed(const std::map<std::string, std::size_t, std::less<>>& seen, std::size_t line);
  void read_row(const std::vector<CsvField>& fields, std::size_t line);
  void note_unknown(const CsvField& signal, std::size_t line);
  std::uint32_t intern_labels(const std::vector<CsvField>& fields);
  std::optional<std::int64_t> whole(const CsvField& field, std::size_t line, Fixed which);
  std::optional<std::int64_t> start_ms(const CsvField& field, std::size_t line);
  bool has_length_of_step(const SignalPlan& plan, std::int64_t seconds, const CsvField& field,
                          std::size_t line);

  const std::vector<SignalPlan>& plans_;
  CsvFaults& faults_;
  CsvRows& out_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::size_t columns_ = 0;
  std::size_t fixed_[kFixedCount] = {};
  std::vector<std::size_t> label_fields_;
  std::vector<std::string_view> values_;
  std::string last_start_;  // The rows of a step mostly follow each other.
  std::int64_t last_start_ms_ = 0;
};

void RowReader::read(std::string_view text) {
  CsvReader csv(text);
  std::vector<CsvField> fields;
  bool header = true;
  while (true) {
    const auto more = csv.next(fields);
    if (!more) {
      faults_.add(csv.line(), csv.column(), more.error().message);
      return;
    }
    if (!*more) break;
    if (header && !read_header(fields, csv.line())) return;
    if (!header) read_row(fields, csv.line());
    header = false;
  }
  if (header) faults_.add(1, 1, "the header signal,start,seconds,n,k is missing");
}

bool RowReader::read_header(const std::vector<CsvField>& fields, std::size_t line) {
  columns_ = fields.size();
  std::map<std::string, std::size_t, std::less<>> seen;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string_view name = fields[i].text;
    if (!seen.emplace(name, i).second) {
      faults_.add(line, fields[i].column, fmt::format("the column {} stands twice", name));
    } else if (!is_column_name(name)) {
      faults_.add(line, fields[i].column,
                  fmt::format("\"{}\" is no name for a column: letters, digits and _",
                              repair_utf8(name.substr(0, 60))));
    } else if (std::ranges::find(kFixedNames, name) == std::end(kFixedNames)) {
      label_fields_.push_back(i);
      out_.label_names.emplace_back(name);
    }
  }
  find_fixed(seen, line);
  return faults_.none();
}

void RowReader::find_fixed(const std::map<std::string, std::size_t, std::less<>>& seen,
                           std::size_t line) {
  for (std::size_t i = 0; i < kFixedCount; ++i) {
    if (const auto found = seen.find(kFixedNames[i]); found != seen.end()) {
      fixed_[i] = found->second;
    } else {
      faults_.add(
          line, 1,
          fmt::format("the header has no column {}; it is signal,start,seconds,n,k and label "
                      "columns",
                      kFixedNames[i]));
    }
  }
}

std::optional<std::int64_t> RowReader::whole(const CsvField& field, std::size_t line, Fixed which) {
  std::int64_t value = 0;
  const char* end = field.text.data() + field.text.size();
  const auto [rest, error] = std::from_chars(field.text.data(), end, value);
  if (rest == end && error == std::errc() && value >= 0 && value <= kMaxCount) return value;
  std::string_view why = "is not a whole number";
  if (rest == end && value > kMaxCount) why = "is too large";
  if (error == std::errc::result_out_of_range) why = "is too large";
  if (field.text.starts_with('-')) why = "is negative";
  faults_.add(
      line, field.column,
      fmt::format("{}: \"{}\" {}", kFixedNames[which], repair_utf8(field.text.substr(0, 40)), why));
  return std::nullopt;
}

std::optional<std::int64_t> RowReader::start_ms(const CsvField& field, std::size_t line) {
  if (field.text == last_start_ && !last_start_.empty()) return last_start_ms_;
  const auto start = parse_timestamp(field.text);
  if (!start) {
    faults_.add(line, field.column, "start: " + repair_utf8(start.error().message));
    return std::nullopt;
  }
  if (unix_ms(*start) < 0) {
    faults_.add(line, field.column, "start: lies before 1970");
    return std::nullopt;
  }
  last_start_ = field.text;
  last_start_ms_ = unix_ms(*start);
  return last_start_ms_;
}

bool RowReader::has_length_of_step(const SignalPlan& plan, std::int64_t seconds,
                                   const CsvField& field, std::size_t line) {
  if (seconds == 0 || seconds > kMaxSeconds) {
    faults_.add(line, field.column, fmt::format("seconds: {} is no length of a step", seconds));
    return false;
  }
  const std::int64_t step = plan.step.count();
  const std::int64_t off = std::abs(seconds * 1000 - step);
  // A day of local time may have 23 or 25 hours.
  if (off == 0 || (step % kDayMs == 0 && off <= kHourMs)) return true;
  faults_.add(
      line, field.column,
      fmt::format("seconds: the row covers {0}, but signal {1} is read in steps of {2}; give the "
                  "signal \"step: {0}\" and leave out --step: rows are neither cut nor joined",
                  format_duration(std::chrono::seconds(seconds)), plan.name,
                  format_duration(plan.step)));
  return false;
}

void RowReader::note_unknown(const CsvField& signal, std::size_t line) {
  if (signal.text.empty()) {
    faults_.add(line, signal.column, "signal: is empty");
    return;
  }
  CsvRows::Seen& seen = out_.unknown[repair_utf8(signal.text.substr(0, 100))];
  if (seen.count++ == 0) seen.first_line = line;
}

std::uint32_t RowReader::intern_labels(const std::vector<CsvField>& fields) {
  values_.clear();
  for (const std::size_t at : label_fields_) values_.push_back(fields[at].text);
  return out_.sets.intern(values_);
}

void RowReader::read_row(const std::vector<CsvField>& fields, std::size_t line) {
  ++out_.count;
  if (fields.size() != columns_) {
    faults_.add(line, 1, fmt::format("{} fields where the header has {}", fields.size(), columns_));
    return;
  }
  const auto field = [&](Fixed which) -> const CsvField& { return fields[fixed_[which]]; };
  const auto found = by_name_.find(field(kSignal).text);
  if (found == by_name_.end()) return note_unknown(field(kSignal), line);
  const SignalPlan& plan = plans_[found->second];
  const auto start = start_ms(field(kStart), line);
  const auto seconds = whole(field(kSeconds), line, kSeconds);
  const auto n = whole(field(kN), line, kN);
  const auto k = whole(field(kK), line, kK);
  if (!start || !seconds || !n || !k) return;
  if (*k > *n) {
    faults_.add(line, field(kK).column, fmt::format("k: {} is more than n, which is {}", *k, *n));
    return;
  }
  if (!has_length_of_step(plan, *seconds, field(kSeconds), line)) return;
  const std::int64_t step = plan.step.count();
  CsvRows::Seen& moved = out_.moved[found->second];
  if (*start % step != 0 && moved.count++ == 0) moved.first_line = line;
  out_.rows[found->second].push_back({(*start + (step - 1) / 2) / step, *n, *k,
                                      intern_labels(fields), static_cast<std::uint32_t>(line)});
}

}  // namespace

Error CsvFaults::error() {
  std::ranges::stable_sort(faults_);
  std::string text;
  for (const auto& [line, column, what] : faults_ | std::views::take(kMaxFaultsShown)) {
    text += fmt::format("{}{}:{}:{}: {}", text.empty() ? "" : "\n", file_, line, column, what);
  }
  if (faults_.size() > kMaxFaultsShown) {
    text += fmt::format("\n{}: and {} further faults", file_, faults_.size() - kMaxFaultsShown);
  }
  return {ErrorKind::invalid, std::move(text)};
}

std::uint32_t ValueSets::intern(const std::vector<std::string_view>& values) {
  key_.clear();
  for (const std::string_view value : values) {
    key_ += std::to_string(value.size());
    key_ += ':';
    key_ += value;
  }
  const auto [found, fresh] = ids_.try_emplace(key_, static_cast<std::uint32_t>(sets_.size()));
  if (fresh) {
    Values& set = sets_.emplace_back();
    for (const std::string_view value : values) set.push_back(repair_utf8(value));
  }
  return found->second;
}

CsvRows read_csv_rows(std::string_view text, const std::vector<SignalPlan>& plans,
                      CsvFaults& faults) {
  CsvRows rows;
  RowReader(plans, faults, rows).read(text);
  return rows;
}

}  // namespace outcomed
