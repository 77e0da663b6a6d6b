// Rows of scores, of a file or of a database, as items for the re-scoring report. What can't be
// used is counted and told, never silently dropped.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "detectors/stats/scored_item.h"
#include "queries/base/result.h"

namespace outcomed {

// Names of columns as the header has them; empty for one that isn't read.
struct ScoreColumns {
  std::string feed;
  std::string item;
  std::string old_score;
  std::string new_score;
  std::string weight;
  // For a plan: a row without an item, or with one that stood before in its feed, is left out.
  bool distinct_items = false;
};

struct SkippedRows {
  std::string reason;
  std::size_t count = 0;
  std::vector<std::size_t> lines;  // Where the first ones stand; see ScoreRows::place.
};

struct ScoreRows {
  std::vector<ScoredItem> items;  // feed is "all" where no column of feeds is read.
  std::size_t rows = 0;           // Without the header.
  std::vector<SkippedRows> skipped;
  std::vector<std::string> notes;  // Sentences about what was used but looks odd.
  // What is counted to say where a row stands, from 1: "line" of a file, its header being line 1 as
  // a rule; "row" of a query's answer.
  std::string_view place = "line";
};

// Takes a header, then rows. A score is a decimal number of at most 1e12 in size; blank, NaN, null,
// none and n/a are missing ones.
class ScoreRowReader {
 public:
  using Record = std::span<const std::string_view>;

  // `origin` names where the rows come from in messages; `place` as in ScoreRows, a literal.
  ScoreRowReader(std::string origin, const ScoreColumns& columns, std::string_view place);

  // Errors (invalid): a column that is lacking or there twice, said with those that are there.
  Status header(Record names);
  void row(Record record, std::size_t number);
  // Once, at the end.
  ScoreRows finish();

 private:
  [[nodiscard]] Result<std::size_t> find(Record names, const char* option,
                                         const std::string& name) const;
  std::optional<std::string> take(Record record, std::size_t number);
  void skip(std::string reason, std::size_t number);

  std::string origin_;
  ScoreColumns columns_;
  // Where each wanted column lies in a record.
  std::optional<std::size_t> feed_;
  std::optional<std::size_t> item_;
  std::optional<std::size_t> old_score_;
  std::optional<std::size_t> new_score_;
  std::optional<std::size_t> weight_;
  std::size_t width_ = 0;
  ScoreRows rows_;
  std::map<std::string, SkippedRows> skipped_;
  std::unordered_set<std::string> seen_;
  std::size_t repeats_ = 0;
  std::size_t first_repeat_ = 0;
};

}  // namespace outcomed
