#include "queries/postgres/seen_rows.h"

#include <algorithm>
#include <vector>

namespace outcomed {

std::uint64_t SeenRows::hash(std::string_view id) {
  // FNV-1a, then mixed: near ids differ in few bits.
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char byte : id) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdULL;
  return hash ^ (hash >> 33);
}

void SeenRows::keep_from(Timestamp from) {
  complete_from_ = std::max(complete_from_, from);
  std::erase_if(ends_, [&](const auto& row) { return row.second < unix_ms(complete_from_); });
  if (ends_.size() <= kMost) return;
  std::vector<std::int64_t> ends;
  ends.reserve(ends_.size());
  for (const auto& [id, end] : ends_) ends.push_back(end);
  const auto cut = ends.begin() + static_cast<std::ptrdiff_t>(ends.size() - kMost);
  std::ranges::nth_element(ends, cut);
  complete_from_ = from_unix_ms(*cut + 1);
  std::erase_if(ends_, [&](const auto& row) { return row.second < unix_ms(complete_from_); });
}

void SeenRows::save(Writer& writer) const {
  writer.i64(unix_ms(complete_from_));
  writer.u64(ends_.size());
  for (const auto& [id, end] : ends_) {
    writer.u64(id);
    writer.i64(end - unix_ms(complete_from_));
  }
}

bool SeenRows::load(Reader& reader) {
  ends_.clear();
  complete_from_ = from_unix_ms(reader.i64());
  for (std::uint64_t left = reader.u64(); left > 0 && reader.ok(); --left) {
    const std::uint64_t id = reader.u64();
    ends_.emplace(id, reader.i64() + unix_ms(complete_from_));
  }
  return reader.ok();
}

}  // namespace outcomed
