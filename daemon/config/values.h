// Values as people write them. Every error reads "what is wrong; what to do".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "queries/base/result.h"

namespace outcomed {

// `10%` or `0.1` -> 0.1, read in one step, so it is the double nearest to what was typed. At most
// 100 %. A bare number above 1 is an error that proposes the percent sign, and so is a bare 1.
Result<double> parse_share(std::string_view text);
// 0.1 -> "10%"; parse_share gives the same double back.
std::string share_text(double share);

// `64MiB`: B, KiB, MiB, GiB, TiB; whole numbers.
Result<std::int64_t> parse_size(std::string_view text);
std::string size_text(std::int64_t bytes);

// Decimal digits with an optional minus; no leading zeros, exponents, underscores or 0x.
Result<std::int64_t> parse_whole_number(std::string_view text);

// http:// or https://, a host, nothing secret inside. Messages never repeat the text.
Status check_url(std::string_view text);

// "127.0.0.1:9469", "[::1]:9469", "localhost:9469", ":9469" (every address).
struct ListenAddress {
  std::string host;  // Without brackets; empty: every address.
  std::uint16_t port = 0;
  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};
Result<ListenAddress> parse_listen(std::string_view text);

// Of the candidates, the one a person most likely meant; nothing where none is near. Differences of
// case, '-' and '_' count for nothing.
template <class Range>
std::optional<std::string> suggest(std::string_view text, const Range& candidates);

// For messages: short plain words as they are, everything else in quotes, cut after 60 characters.
std::string shown(std::string_view text);
// "…" with escapes, cut after 60 characters at a character's end.
std::string in_quotes(std::string_view text);
// Control characters as \n, \t or \x1b.
std::string escape_controls(std::string_view text);

// How far apart two words are: insertions, deletions, replacements and swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b);
// Lower case, without '-', '_' and blanks.
std::string fold_word(std::string_view text);

template <class Range>
std::optional<std::string> suggest(std::string_view text, const Range& candidates) {
  if (text.size() > 64) return std::nullopt;
  const std::string word = fold_word(text);
  std::size_t best = word.size() <= 3 ? 2 : word.size() <= 8 ? 3 : 4;  // Exclusive.
  std::optional<std::string> found;
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(word, fold_word(candidate));
    if (distance >= best || distance >= word.size()) continue;
    best = distance;
    found = std::string(candidate);
  }
  return found;
}

}  // namespace outcomed
