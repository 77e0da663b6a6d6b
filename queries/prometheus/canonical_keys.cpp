#include "queries/prometheus/canonical_keys.h"

#include <array>
#include <cstring>

namespace outcomed {
namespace {

constexpr std::size_t kAlwaysKept = 10'000;
constexpr std::size_t kKeptForEachMet = 4;

}  // namespace

SeriesId CanonicalKeys::open(std::string_view key, const std::function<Labels()>& labels) {
  ++opened_;
  std::uint64_t fingerprint = 0;
  if (const auto found = fingerprints_.find(key); found != fingerprints_.end()) {
    fingerprint = found->second;
  } else {
    const Labels parsed = labels();
    fingerprint = parsed.fingerprint();
    // No labels: they could not be parsed, and the next answer must be refused as well.
    if (!parsed.empty()) fingerprints_.emplace(std::string(key), fingerprint);
  }
  std::array<char, sizeof fingerprint> bytes{};
  std::memcpy(bytes.data(), &fingerprint, bytes.size());
  return inner_.open({bytes.data(), bytes.size()}, labels);
}

void CanonicalKeys::tidy() {
  if (fingerprints_.size() > kAlwaysKept && fingerprints_.size() > kKeptForEachMet * opened_) {
    fingerprints_.clear();
  }
  opened_ = 0;
}

}  // namespace outcomed
