// Numbers and names as people read them, the same in every sentence.
#pragma once

#include <cstdint>
#include <string>

#include "queries/base/labels.h"
#include "queries/base/time.h"

namespace outcomed {

// "92 %", "0.4 %", "0.03 %", "100 %"; never "100 %" or "0 %" for what only rounds to it.
std::string format_share(double share);
// "12:04 UTC"; with the date when it lies more than half a day before `now`.
std::string format_since(Timestamp t, Timestamp now);
// What a sentence starts with: the model if the group has one, else the whole group, else
// "whole gateway". Labels beside the model follow in parentheses, except the error class, which
// has words of its own.
std::string subject(const Labels& group);

struct Interval {
  double low = 0;
  double high = 1;
};
// Wilson's score interval at 95 % (E. B. Wilson 1927); [0, 1] for n = 0.
Interval wilson(std::int64_t k, std::int64_t n);

}  // namespace outcomed
