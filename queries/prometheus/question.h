// Which series are asked for, in as few requests as keep the answer exact.
#pragma once

#include <string>
#include <vector>

#include "queries/base/matcher.h"
#include "queries/base/time.h"

namespace outcomed {

// All series of some metrics that share their matchers.
struct Question {
  std::vector<std::string> metrics;  // Sorted, each once.
  Matchers matchers;                 // Without the one on __name__.

  // {__name__=~"a|b",job="x"}; a single metric stands in front: a{job="x"}.
  [[nodiscard]] std::string selector() const;
  // The same with its range: …[1m].
  [[nodiscard]] std::string range_selector(Duration range) const;
  // The same as matchers, "__name__" first.
  [[nodiscard]] Matchers all_matchers() const;

  friend bool operator==(const Question&, const Question&) = default;
};

// Selectors with equal matchers become one question; a selector without matchers of its own makes
// others on the same metric needless. `extra` is added to each.
std::vector<Question> make_questions(const std::vector<Selector>& selectors, const Matchers& extra);

// What tells processes and scrapes of targets (process_start_time_seconds and up), for these jobs;
// for everything while no job is known.
Question target_question(const std::vector<std::string>& jobs, const Matchers& extra);

}  // namespace outcomed
