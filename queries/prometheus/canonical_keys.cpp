#include "queries/prometheus/canonical_keys.h"

#include <array>
#include <cstring>

namespace outcomed {
namespace {

constexpr std::size_t kAlwaysKept = 10'000;

}  // namespace

SeriesId CanonicalKeys::open(std::string_view key, const std::function<Labels()>& labels) {
  ++opened_;
  Keys::value_type* known = last_ == nullptr ? nullptr : last_->second.next;
  if (known == nullptr || known->first != key) {
    const auto found = keys_.find(key);
    known = found == keys_.end() ? nullptr : &*found;
  }
  if (known == nullptr) {
    Labels parsed = labels();
    const std::uint64_t fingerprint = parsed.fingerprint();
    std::array<char, sizeof fingerprint> bytes{};
    std::memcpy(bytes.data(), &fingerprint, bytes.size());
    const SeriesId id = inner_.open({bytes.data(), bytes.size()}, [&] { return parsed; });
    // No labels: they could not be parsed, and the next answer must be refused as well.
    if (parsed.empty()) return id;
    known = &*keys_.emplace(std::string(key), Known{id, nullptr}).first;
  }
  if (last_ != nullptr) last_->second.next = known;
  last_ = known;
  return known->second.id;
}

void CanonicalKeys::tidy() {
  if (keys_.size() > kAlwaysKept && keys_.size() > opened_ + opened_ / 2) {
    keys_.clear();
    last_ = nullptr;
  }
  opened_ = 0;
}

}  // namespace outcomed
