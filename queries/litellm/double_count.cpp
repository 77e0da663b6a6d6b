#include "queries/litellm/double_count.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace outcomed::litellm {
namespace {

constexpr std::string_view kTotals = "litellm_proxy_total_requests_metric_total";
constexpr std::string_view kFailed = "litellm_proxy_failed_requests_metric_total";
constexpr std::string_view kLatency = "litellm_request_total_latency_metric_count";
// Successes that must have been seen before totals prove anything.
constexpr double kEnough = 20;
// A doubled gateway with 40 % streams shows 1.6; one that counts once shows 1 (a few in flight
// aside).
constexpr double kClearlyMore = 1.1;

struct Sums {
  double totals = 0;
  double successes = 0;
  bool org_label = false;
};

}  // namespace

int divisor_of_version(std::string_view version) {
  std::array<int, 3> parts{};
  const char* at = version.data();
  const char* const end = at + version.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto [next, error] = std::from_chars(at, end, parts[i]);
    if (error != std::errc()) return i == 2 ? (parts < std::array{1, 81, 14} ? 2 : 1) : 0;
    at = next;
    if (at != end && *at == '.') ++at;
  }
  return parts < std::array{1, 81, 14} ? 2 : 1;
}

DoubleCount::DoubleCount(std::string_view version)
    : configured_(divisor_of_version(version)),
      version_(version),
      interest_{
          {std::string(kFailed), {}},
          {std::string(kLatency), {}},
          {std::string(kTotals), {*Matcher::make("status_code", Matcher::Op::equal, "200")}}} {}

bool DoubleCount::settled() const {
  return configured_ != 0 ||
         (!known_.empty() && std::ranges::none_of(known_, [](const auto& entry) {
           return entry.second.basis == Basis::open;
         }));
}

void DoubleCount::learn(const std::vector<LastValue>& values) {
  if (configured_ != 0) return;
  std::map<std::string_view, Sums> sums;
  for (const LastValue& last : values) {
    Sums& sum = sums[last.target];
    const std::string_view metric = last.labels->get("__name__");
    if (metric == kLatency) {
      sum.successes += last.value;
      continue;  // Its labels say nothing: org_id came to it in other versions.
    }
    sum.org_label |= !last.labels->get("org_id").empty();
    if (metric == kTotals) sum.totals += last.value;
  }
  for (const auto& [target, sum] : sums) {
    Known& known = known_[std::string(target)];
    if (sum.org_label) {
      known = {1, Basis::org_label};
    } else if (known.basis == Basis::open && sum.successes >= kEnough &&
               sum.totals > kClearlyMore * sum.successes) {
      known = {2, Basis::totals};
    }
  }
}

void DoubleCount::restarted(std::string_view target) {
  const auto found = known_.find(target);
  if (found != known_.end())
    found->second.basis = Basis::open;  // The divisor stays till proved otherwise.
}

int DoubleCount::divisor(std::string_view target) const {
  if (configured_ != 0) return configured_;
  const auto found = known_.find(target);
  return found == known_.end() ? 1 : found->second.divisor;
}

std::vector<std::string> DoubleCount::facts() const {
  if (configured_ != 0) {
    return {fmt::format("gateway version {} (configured): failed requests are counted {}", version_,
                        configured_ == 2 ? "twice and halved here" : "once")};
  }
  std::vector<std::string> facts;
  for (const auto& [target, known] : known_) {
    std::string_view why = "assumed to be counted once (nothing proves otherwise yet)";
    if (known.basis == Basis::org_label) why = "counted once (label org_id: 1.81.14 or later)";
    if (known.divisor == 2)
      why = "counted twice and halved here (totals exceed successes: before 1.81.14)";
    facts.push_back(
        fmt::format("{}: failed requests are {}", target.empty() ? "gateway" : target, why));
  }
  return facts;
}

void DoubleCount::save(Writer& writer) const {
  writer.u64(known_.size());
  for (const auto& [target, known] : known_) {
    writer.text(target);
    writer.u64(static_cast<std::uint64_t>(known.divisor));
    writer.u64(static_cast<std::uint64_t>(known.basis));
  }
}

bool DoubleCount::load(Reader& reader) {
  for (std::uint64_t left = reader.u64(); left > 0 && reader.ok(); --left) {
    const std::string target = reader.text();
    Known& known = known_[target];
    known.divisor = reader.u64() == 2 ? 2 : 1;
    known.basis = static_cast<Basis>(std::min<std::uint64_t>(reader.u64(), 2));
  }
  return reader.ok();
}

}  // namespace outcomed::litellm
