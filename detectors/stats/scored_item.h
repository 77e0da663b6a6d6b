// One item that two judges scored, wherever the row came from: a CSV file, a table, a query.
#pragma once

#include <limits>
#include <string>

namespace outcomed {

struct ScoredItem {
  std::string feed;
  std::string item;  // Empty where rows have no name.
  double old_score = 0;
  double new_score = std::numeric_limits<double>::quiet_NaN();  // NaN: not scored yet.
  double weight = 1;
};

}  // namespace outcomed
