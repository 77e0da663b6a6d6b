// Pieces of written times, for the parsers of RFC 3339 and of PostgreSQL's output. Each reads at
// `pos` and moves past what it read; nothing is read where the answer is empty or false.
#pragma once

#include <optional>
#include <string_view>

#include "queries/base/time.h"

namespace outcomed {

bool skip(std::string_view text, std::size_t& pos, char c);
// Exactly `width` digits, at most nine.
std::optional<int> read_digits(std::string_view text, std::size_t& pos, std::size_t width);
// "2026-12-01": midnight, UTC. Days that don't exist are no dates.
std::optional<Timestamp> read_date(std::string_view text, std::size_t& pos);

}  // namespace outcomed
