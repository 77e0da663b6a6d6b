// Whose failures they are: the counts of both sides of a gateway over a span, and the word for
// them.
//
// Consumers fail when at least min_consumer_failures of their requests failed, more than
// consumer_failures of all, and chance does that at most once in kChance at that share (Chernoff's
// bound: n KL(k/n || share) >= ln kChance; W. Hoeffding 1963). The provider fails when at least
// min_provider_failures attempts did and they are at least provider_failures of all. Counts are
// compared, never rounded ratios.
//
// Where consumers fail, the side that explains at least half of their failures is named. Step by
// step, the provider explains the failures it passed on, and as large a share of the requests as of
// the attempts that it failed; what it rejects (429, 401, 404) is weighed alike (Attribution). What
// is left was made by the gateway: a router that refuses 71 of 77 requests while 3 of 12 attempts
// failed. Step by step, because a router that cools down makes few attempts while the provider is
// down and many when it is back: over an hour, 30 failures hide among 500 good attempts.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "queries/base/codec.h"
#include "queries/base/time.h"

namespace outcomed {

struct SideCounts {
  std::int64_t requests = 0;
  std::int64_t consumer_failures = 0;
  std::int64_t attempts = 0;
  std::int64_t provider_failures = 0;
  // Of consumer_failures; zero where the signal doesn't say.
  std::int64_t refused = 0;
  std::int64_t rejected = 0;
  std::int64_t passed_on = 0;
  // Of consumer_failures, by Attribution.
  std::int64_t by_provider = 0;
  std::int64_t by_rejection = 0;

  SideCounts& operator+=(const SideCounts& other);
  SideCounts& operator-=(const SideCounts& other);
  friend bool operator==(const SideCounts&, const SideCounts&) = default;
  // Where n and k of a side (queries/failure_side.h) are counted; null: they are not.
  struct Place {
    std::int64_t SideCounts::*n = nullptr;
    std::int64_t SideCounts::*k = nullptr;
  };
  static Place place_of(std::string_view side);
  void add(Place place, std::int64_t n, std::int64_t k) {
    if (place.n != nullptr) this->*place.n += n;
    if (place.k != nullptr) this->*place.k += k;
  }
  void save(Writer& writer) const;
  static SideCounts load(Reader& reader);
};

// Sets by_provider and by_rejection of the steps of one group, in time order. A step without any
// attempt (everything is cooling down) goes by the last one that had some, for kCarry: who refuses
// longer than that without trying does so by himself.
class Attribution {
 public:
  static constexpr Duration kCarry = std::chrono::minutes(5);

  void attribute(SideCounts& step, Timestamp start);
  void save(Writer& writer) const;
  void load(Reader& reader);

 private:
  std::int64_t attempts_ = 0;
  std::int64_t failed_ = 0;
  std::int64_t rejected_ = 0;
  Timestamp at_;
};

enum class AbsorptionOutcome : std::uint8_t {
  healthy,         // Neither side fails.
  too_few,         // Fewer requests than needed to say that consumers are well.
  absorbed,        // The provider fails, consumers don't.
  leaking,         // Provider's failures reach consumers.
  rejected,        // The provider answers, but says no: limits, credentials, model name.
  self_inflicted,  // Consumers fail while the provider answers.
};

std::string_view to_string(AbsorptionOutcome outcome);
// Only those that a rule may be breached by: not healthy, not too_few.
std::optional<AbsorptionOutcome> parse_absorption_outcome(std::string_view text);
// Consumers fail.
bool is_failing(AbsorptionOutcome outcome);

struct AbsorptionLimits {
  static constexpr double kChance = 1000;

  double provider_failures = 0.1;
  double consumer_failures = 0.01;
  std::int64_t min_provider_failures = 3;
  std::int64_t min_consumer_failures = 5;
  std::int64_t min_requests = 20;
};

struct AbsorptionJudgement {
  AbsorptionOutcome outcome = AbsorptionOutcome::healthy;
  bool provider_fails = false;
  // Consumers' share is above the limit, proven or not.
  bool above_limit = false;
};

AbsorptionJudgement judge_absorption(const SideCounts& counts, const AbsorptionLimits& limits);

// Consumers' failing share as part of the provider's: 0 nothing reaches consumers, 1 everything,
// above 1 the gateway adds to it. Nothing where the provider didn't fail or nobody asked.
std::optional<double> reach_of_failures(const SideCounts& counts);

}  // namespace outcomed
