// Words that the price rule and `report prices` share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "detectors/price/findings.h"

namespace outcomed {

// "12.40 USD"; the text alone where the tables have no currency.
std::string with_currency(std::string text, std::string_view currency);

// "249 of 250 rows (99.6 %)"
std::string of_rows(std::int64_t rows, std::int64_t all);

// "61 % of the expected cost was booked (13.50 of 22.13 USD)"
std::string ratio_words(const ComparedCosts& costs, std::string_view currency);

// What most of the rows that are off were booked as, and how many rows; unknown where no reason has
// more than half.
std::pair<BookedAs, std::int64_t> main_reason(const SpendAmounts& amounts);

}  // namespace outcomed
