// YAML text as a small tree that remembers where everything stands. The dialect is the part of YAML
// 1.2 that means the same to every reader: one document, no anchors, aliases, merge keys or tags,
// every key once. What a plain text means (number, duration, …) is decided by the setting that
// reads it, so `no`, `010` and `1e3` stay the text that was typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/problem.h"

namespace outcomed {

inline constexpr std::size_t kMaxConfigBytes = 1 << 20;
inline constexpr std::size_t kMaxConfigDepth = 64;
inline constexpr std::size_t kMaxConfigNodes = 100'000;

struct Node {
  enum class Kind {
    null,  // Nothing after the colon or dash, `~` or `null`.
    scalar,
    map,
    sequence,
  };
  struct Entry;

  Kind kind = Kind::null;
  std::string text;     // Of a scalar.
  bool quoted = false;  // Also true of block texts (| and >).
  Place place;
  std::vector<Entry> entries;  // Of a map, in the order of the file.
  std::vector<Node> items;     // Of a sequence.

  [[nodiscard]] const Entry* find(std::string_view key) const;
};

struct Node::Entry {
  std::string key;
  Place place;  // Of the key.
  Node value;
};

// Whose file it is. `ours` is the dialect above. `pyyaml` is what a program that reads its file
// with Python's yaml.safe_load makes of it: aliases and merge keys (<<) are expanded (what they
// stand for counts against the limits, and keeps the place where it is written), of a key that
// stands twice the last one counts, tags of the core schema are read. Duplicate keys are reported
// in both.
enum class YamlDialect { ours, pyyaml };

// Parses one file. False: the text can't be read as a whole (syntax, limits, refused features), the
// problems say why, and `root` means nothing. True: `root` holds everything, although problems such
// as duplicate keys (the first one stays, in `pyyaml` the last) may have been added. An empty file
// is a null node.
bool parse_yaml(std::string_view text, Node& root, ProblemSink& problems,
                YamlDialect dialect = YamlDialect::ours);

}  // namespace outcomed
