#include "daemon/rescore/score_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

#include "queries/base/ascii.h"
#include "queries/base/utf8.h"

namespace outcomed {
namespace {

constexpr std::size_t kLinesTold = 10;
constexpr double kGreatestScore = 1e12;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool says_missing(std::string_view text) {
  const std::string lower = lower_case(text);
  return lower.empty() || lower == "nan" || lower == "null" || lower == "none" || lower == "na" ||
         lower == "n/a";
}

// The score in `text`; or why there is none.
std::optional<std::string> number_in(std::string_view text, const std::string& column,
                                     double& value) {
  text = trimmed(text);
  if (says_missing(text)) return fmt::format("{} is missing", repair_utf8(column));
  if (text.starts_with('+')) text.remove_prefix(1);
  double parsed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return fmt::format("{} is no number", repair_utf8(column));
  }
  if (!(std::abs(parsed) <= kGreatestScore)) {
    return fmt::format("{} is beyond 1e12", repair_utf8(column));
  }
  value = parsed == 0 ? 0 : parsed;  // No negative zero: it would be shown.
  return {};
}

}  // namespace

ScoreRowReader::ScoreRowReader(std::string origin, const ScoreColumns& columns,
                               std::string_view place)
    : origin_(std::move(origin)), columns_(columns) {
  rows_.place = place;
}

Status ScoreRowReader::header(Record names) {
  width_ = names.size();
  for (const auto& [option, name, place] :
       {std::tuple("--feed", &columns_.feed, &feed_), std::tuple("--item", &columns_.item, &item_),
        std::tuple("--old", &columns_.old_score, &old_score_),
        std::tuple("--new", &columns_.new_score, &new_score_),
        std::tuple("--weight", &columns_.weight, &weight_)}) {
    if (name->empty()) continue;
    auto found = find(names, option, *name);
    if (!found) return std::move(found).error();
    *place = *found;
  }
  return ok();
}

Result<std::size_t> ScoreRowReader::find(Record names, const char* option,
                                         const std::string& name) const {
  const auto same = [&](std::string_view text) { return trimmed(text) == name; };
  const auto count = std::ranges::count_if(names, same);
  if (count == 1)
    return static_cast<std::size_t>(std::ranges::find_if(names, same) - names.begin());
  std::string all;
  for (const std::string_view text : names) {
    all += (all.empty() ? "" : ", ") + repair_utf8(trimmed(text));
  }
  return Error{ErrorKind::invalid,
               count == 0 ? fmt::format("{}: {} has no column \"{}\"; it has: {}", option, origin_,
                                        repair_utf8(name), all)
                          : fmt::format("{}: {} has {} columns \"{}\"; rename all but one", option,
                                        origin_, count, repair_utf8(name))};
}

void ScoreRowReader::row(Record record, std::size_t number) {
  ++rows_.rows;
  if (auto reason = take(record, number)) skip(*std::move(reason), number);
}

// Why the row can't be used; nothing where it was taken.
std::optional<std::string> ScoreRowReader::take(Record record, std::size_t number) {
  if (record.size() != width_) {
    return fmt::format("{} fields than the header", record.size() < width_ ? "fewer" : "more");
  }
  ScoredItem item;
  item.feed = feed_ ? repair_utf8(trimmed(record[*feed_])) : "all";
  if (item_) item.item = repair_utf8(record[*item_]);
  for (const auto& [place, column, value] :
       {std::tuple(old_score_, &columns_.old_score, &item.old_score),
        std::tuple(new_score_, &columns_.new_score, &item.new_score),
        std::tuple(weight_, &columns_.weight, &item.weight)}) {
    if (!place) continue;
    if (auto why = number_in(record[*place], *column, *value)) return why;
  }
  if (item.weight <= 0) return fmt::format("{} is not above 0", repair_utf8(columns_.weight));
  if (columns_.distinct_items && trimmed(item.item).empty()) {
    return fmt::format("{} is missing", repair_utf8(columns_.item));
  }
  if (item_ && !item.item.empty() && !seen_.insert(item.feed + '\0' + item.item).second) {
    if (columns_.distinct_items) {
      return fmt::format("{} stood before in its feed", repair_utf8(columns_.item));
    }
    if (repeats_++ == 0) first_repeat_ = number;
  }
  rows_.items.push_back(std::move(item));
  return {};
}

void ScoreRowReader::skip(std::string reason, std::size_t number) {
  SkippedRows& skipped = skipped_[reason];
  skipped.reason = std::move(reason);
  ++skipped.count;
  if (skipped.lines.size() < kLinesTold) skipped.lines.push_back(number);
}

ScoreRows ScoreRowReader::finish() {
  for (auto& [reason, skipped] : skipped_) rows_.skipped.push_back(std::move(skipped));
  std::ranges::sort(rows_.skipped, {}, [](const SkippedRows& s) { return s.lines.front(); });
  if (repeats_ > 0) {
    rows_.notes.push_back(fmt::format(
        "{} {} an item that stood before in its feed, first on {} {}; all of them "
        "count",
        repeats_, repeats_ == 1 ? "row repeats" : "rows repeat", rows_.place, first_repeat_));
  }
  return std::move(rows_);
}

}  // namespace outcomed
