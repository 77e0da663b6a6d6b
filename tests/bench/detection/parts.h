// The parts of the bench. Each prints its rows; those that the quick run makes return what is
// wrong, in sentences.
#pragma once

#include <string>
#include <vector>

namespace outcomed::bench {

using Problems = std::vector<std::string>;

struct Effort {
  int series = 20;      // Learned series; each is watched for 30 days.
  int shifted = 12;     // Of these, changed after two more days,
  int repetitions = 4;  // so many times for each share.
};

// (1) Mean time to a false page at a budget of 1000 minutes, in about `minutes` minutes each.
Problems false_page_times(double minutes, bool all);
// (2)-(4) One cell of S1-S4: false pages and delays of every detector on the same arrays. `dump`:
// a folder that gets the arrays; empty: none.
Problems grid_cell(const std::string& baseline, double rate, const Effort& effort,
                   const std::string& data, const std::string& dump);
// (2) Mean delays of the sums with a known normal against the oracle's; shares of 3 % and more.
Problems against_oracle(const std::vector<double>& rates, int changes);
// (4) A small cell of S1, against the classic rules.
Problems quick_cell();
// (3) Series of S1 at a budget of 25 years, 30 days each.
Problems many_series(int series);
// S5: a provider's outage, found by the rule over its models.
Problems provider_outage(const std::string& data, int outages);
// S6: 1 to 10 % within six hours. S7: what must not page. S11: real requests.
Problems slow_ramp(int series);
Problems harmless();
Problems real_requests(const std::string& data);
// (6) S9 and (7) S10.
Problems real_answers(const std::string& data);
// `dump`: a folder that gets the days of the first year; empty: none.
Problems judge_swap(const std::string& data, int years, const std::string& dump);

}  // namespace outcomed::bench
