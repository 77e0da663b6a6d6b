// Rows of LiteLLM_SpendLogs as the gateways' own code made them (spendlogs.jsonl.gz).
#pragma once

#include <map>
#include <string>
#include <vector>

namespace outcomed::testing {

// Column -> text, as PostgreSQL would hold it; absent where NULL. `metadata` is JSON.
using SpendRowText = std::map<std::string, std::string>;

// In the order made. The stand-in upstream gave all its streams one id ("c1"); a database would
// have refused all but the first, so they get a number. Empty when the file can't be read.
std::vector<SpendRowText> read_spend_rows(const std::string& path);

// One line of COPY's text form, for the columns named; NULL where the row has none.
std::string copy_line(const SpendRowText& row, const std::vector<std::string>& columns);

// What SQL expressions of ours take out of metadata: "metadata->'a'->>'b'", and coalesce of two.
struct MaybeText {
  bool there = false;  // Not NULL.
  std::string text;
};
std::vector<MaybeText> take_from_metadata(const std::string& metadata,
                                          const std::vector<std::string>& expressions);

}  // namespace outcomed::testing
