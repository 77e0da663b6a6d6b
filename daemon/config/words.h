// Words in messages: what was typed, shown safely, and what was meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace outcomed {

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
