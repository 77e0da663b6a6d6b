#include "tests/support/gateway_sim/version.h"

#include <fmt/core.h>

#include <array>
#include <charconv>

namespace outcomed::sim {
namespace {

const std::vector<std::string_view> kOldBuckets = {
    "0.005", "0.00625", "0.0125", "0.025", "0.05",  "0.1",   "0.5",   "1.0",  "1.5",
    "2.0",   "2.5",     "3.0",    "3.5",   "4.0",   "4.5",   "5.0",   "5.5",  "6.0",
    "6.5",   "7.0",     "7.5",    "8.0",   "8.5",   "9.0",   "9.5",   "10.0", "15.0",
    "20.0",  "25.0",    "30.0",   "60.0",  "120.0", "180.0", "240.0", "300.0"};
const std::vector<std::string_view> kNewBuckets = {
    "0.005", "0.01", "0.025", "0.05", "0.1",   "0.25",  "0.5",   "1.0",  "2.0",
    "5.0",   "10.0", "30.0",  "60.0", "120.0", "300.0", "420.0", "600.0"};

}  // namespace

Result<VersionTraits> traits_of(std::string_view version) {
  std::array<int, 3> parts{};
  const char* at = version.data();
  const char* end = version.data() + version.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto [rest, error] = std::from_chars(at, end, parts[i]);
    const bool last = i + 1 == parts.size();
    if (error != std::errc() || (last ? rest != end : rest == end || *rest != '.')) {
      return Error{ErrorKind::invalid,
                   fmt::format("\"{}\" is not a version such as 1.81.9", version)};
    }
    at = rest + 1;
  }
  const auto since = [&](int major, int minor, int patch) {
    return parts >= std::array<int, 3>{major, minor, patch};
  };
  VersionTraits traits;
  traits.version = version;
  traits.counts_twice = !since(1, 81, 14);
  traits.master_key_alias = since(1, 84, 0);
  traits.needs_key = since(1, 85, 0);
  traits.org_labels = since(1, 86, 0);
  traits.token_kinds = since(1, 87, 0);
  traits.api_provider = since(1, 92, 0);
  traits.rows_name_asked = since(1, 99, 0);
  traits.group_label = traits.collapses_unknown = traits.sees_401 = since(1, 106, 0);
  traits.counts_refused_scrapes = since(1, 106, 0);
  traits.buckets = since(1, 83, 7) ? kNewBuckets : kOldBuckets;
  return traits;
}

}  // namespace outcomed::sim
