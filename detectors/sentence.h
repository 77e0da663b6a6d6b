// Numbers and names as people read them, the same in every sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "queries/base/labels.h"
#include "queries/base/time.h"

namespace outcomed {

// "92 %", "0.4 %", "0.03 %", "100 %"; never "100 %" or "0 %" for what only rounds to it. Ratios may
// be more than 1: "161 %".
std::string format_share(double share);
// k or n of a verdict for a person: as its facts say it ("1.20" where money is counted), else the
// number.
std::string format_amount(const std::vector<std::pair<std::string, std::string>>& facts,
                          std::string_view name, std::int64_t count);
// "12:04 UTC"; with the date when it lies more than half a day before `now`.
std::string format_since(Timestamp t, Timestamp now);
// On one line and without what drives a terminal: '?' in place of each control character (C0, DEL,
// and C1 as UTF-8 writes it).
std::string printable(std::string_view text);
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
