#include "queries/base/labels.h"

#include <algorithm>

namespace outcomed {
namespace {

constexpr std::uint64_t kFnvOffset = 14695981039346656037ULL;
constexpr std::uint64_t kFnvPrime = 1099511628211ULL;

// Every part ends in 0xff, which no UTF-8 text contains, so {ab: c} and
// {a: bc} differ.
std::uint64_t mix(std::uint64_t hash, std::string_view part) {
  for (const char byte : part) hash = (hash ^ static_cast<unsigned char>(byte)) * kFnvPrime;
  return (hash ^ 0xffU) * kFnvPrime;
}

}  // namespace

Labels::Labels(std::initializer_list<std::pair<std::string, std::string>> pairs) {
  for (const auto& [name, value] : pairs) set(name, value);
}

void Labels::set(std::string name, std::string value) {
  if (value.empty()) return erase(name);
  const auto at = std::ranges::lower_bound(pairs_, name, {}, &Pair::first);
  if (at != pairs_.end() && at->first == name) {
    at->second = std::move(value);
  } else {
    pairs_.insert(at, {std::move(name), std::move(value)});
  }
}

void Labels::erase(std::string_view name) {
  std::erase_if(pairs_, [&](const Pair& pair) { return pair.first == name; });
}

std::string_view Labels::get(std::string_view name) const {
  for (const auto& [key, value] : pairs_) {
    if (key == name) return value;
  }
  return {};
}

Labels Labels::project(const std::vector<std::string>& names) const {
  Labels kept;
  for (const Pair& pair : pairs_) {
    if (std::ranges::find(names, pair.first) != names.end()) kept.pairs_.push_back(pair);
  }
  return kept;
}

std::uint64_t Labels::fingerprint() const {
  std::uint64_t hash = kFnvOffset;
  for (const auto& [name, value] : pairs_) hash = mix(mix(hash, name), value);
  return hash;
}

std::string Labels::to_string() const {
  std::string text = "{";
  for (const auto& [name, value] : pairs_) {
    if (text.size() > 1) text += ", ";
    text += name + "=\"";
    for (const char c : value) {
      if (c == '\n') {
        text += "\\n";
        continue;
      }
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text + "}";
}

}  // namespace outcomed
