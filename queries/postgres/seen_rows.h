// Which rows were counted lately, so that late ones are told from those.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "queries/base/codec.h"
#include "queries/base/time.h"

namespace outcomed {

class SeenRows {
 public:
  // About 5 MB saved with each tick; ten minutes of 40,000 requests a minute.
  static constexpr std::size_t kMost = 400'000;

  // Stable across processes: it is saved.
  static std::uint64_t hash(std::string_view id);

  [[nodiscard]] bool holds(std::uint64_t id) const { return ends_.contains(id); }
  void add(std::uint64_t id, Timestamp end) { ends_.emplace(id, unix_ms(end)); }
  // Rows that ended before `from` are forgotten; more, from the oldest, when there are too many:
  // then complete_from() moves.
  void keep_from(Timestamp from);
  // Rows that ended before this may have been counted although they are not known here.
  [[nodiscard]] Timestamp complete_from() const { return complete_from_; }
  [[nodiscard]] std::size_t size() const { return ends_.size(); }

  void save(Writer& writer) const;
  bool load(Reader& reader);

 private:
  std::unordered_map<std::uint64_t, std::int64_t> ends_;
  Timestamp complete_from_{};
};

}  // namespace outcomed
