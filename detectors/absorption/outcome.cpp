#include "detectors/absorption/outcome.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "queries/failure_side.h"

namespace outcomed {
namespace {

constexpr std::array<std::pair<AbsorptionOutcome, std::string_view>, 6> kWords = {{
    {AbsorptionOutcome::healthy, "healthy"},
    {AbsorptionOutcome::too_few, "too_few"},
    {AbsorptionOutcome::absorbed, "absorbed"},
    {AbsorptionOutcome::leaking, "leaking"},
    {AbsorptionOutcome::rejected, "rejected"},
    {AbsorptionOutcome::self_inflicted, "self_inflicted"},
}};

// k lies above (at, with `or_equal`) line of n. A line of 0.1 is not a binary fraction: 10 of 100
// must not be above it by rounding.
bool beyond(std::int64_t k, double line, std::int64_t n, bool or_equal) {
  const double edge = line * static_cast<double>(n);
  const double slack = 1e-9 * std::max(1.0, edge);
  return static_cast<double>(k) > edge + (or_equal ? -slack : slack);
}

// n KL(k/n || share), for k/n above the share: chance does that at most exp(-result) of the time.
double evidence(std::int64_t k, std::int64_t n, double share) {
  if (share <= 0) return k > 0 ? 1e300 : 0;
  const double p = static_cast<double>(k) / static_cast<double>(n);
  if (p >= 1) return static_cast<double>(n) * -std::log(share);
  return static_cast<double>(n) *
         (p * std::log(p / share) + (1 - p) * std::log((1 - p) / (1 - share)));
}

std::int64_t share_of(std::int64_t part, std::int64_t whole, std::int64_t requests) {
  if (whole <= 0) return 0;
  return std::llround(static_cast<double>(part) / static_cast<double>(whole) *
                      static_cast<double>(requests));
}

AbsorptionOutcome blame(const SideCounts& c) {
  if (2 * (c.by_provider + c.by_rejection) < c.consumer_failures) {
    return AbsorptionOutcome::self_inflicted;
  }
  return c.by_provider >= c.by_rejection ? AbsorptionOutcome::leaking : AbsorptionOutcome::rejected;
}

}  // namespace

SideCounts& SideCounts::operator+=(const SideCounts& other) {
  requests += other.requests;
  consumer_failures += other.consumer_failures;
  attempts += other.attempts;
  provider_failures += other.provider_failures;
  refused += other.refused;
  rejected += other.rejected;
  passed_on += other.passed_on;
  by_provider += other.by_provider;
  by_rejection += other.by_rejection;
  return *this;
}

SideCounts& SideCounts::operator-=(const SideCounts& other) {
  requests -= other.requests;
  consumer_failures -= other.consumer_failures;
  attempts -= other.attempts;
  provider_failures -= other.provider_failures;
  refused -= other.refused;
  rejected -= other.rejected;
  passed_on -= other.passed_on;
  by_provider -= other.by_provider;
  by_rejection -= other.by_rejection;
  return *this;
}

SideCounts::Place SideCounts::place_of(std::string_view side) {
  if (side == failure_side::kConsumer) {
    return {&SideCounts::requests, &SideCounts::consumer_failures};
  }
  if (side == failure_side::kProvider) {
    return {&SideCounts::attempts, &SideCounts::provider_failures};
  }
  if (side == failure_side::kRefused) return {nullptr, &SideCounts::refused};
  if (side == failure_side::kRejected) return {nullptr, &SideCounts::rejected};
  if (side == failure_side::kPassedOn) return {nullptr, &SideCounts::passed_on};
  return {};
}

void SideCounts::save(Writer& writer) const {
  for (const std::int64_t count : {requests, consumer_failures, attempts, provider_failures,
                                   refused, rejected, passed_on, by_provider, by_rejection}) {
    writer.i64(count);
  }
}

SideCounts SideCounts::load(Reader& reader) {
  SideCounts counts;
  for (std::int64_t* const count : {&counts.requests, &counts.consumer_failures, &counts.attempts,
                                    &counts.provider_failures, &counts.refused, &counts.rejected,
                                    &counts.passed_on, &counts.by_provider, &counts.by_rejection}) {
    *count = reader.i64();
  }
  return counts;
}

void Attribution::attribute(SideCounts& step, Timestamp start) {
  // Counted attempts are a lower bound: each failure that consumers saw was one of them.
  const std::int64_t failed = std::max(step.provider_failures, step.passed_on);
  const std::int64_t attempts = std::max(step.attempts, failed + step.rejected);
  if (attempts > 0) {
    attempts_ = attempts;
    failed_ = failed;
    rejected_ = step.rejected;
    at_ = start;
  }
  step.by_provider = step.by_rejection = 0;
  if (step.consumer_failures <= 0 || start - at_ > kCarry) return;
  const std::int64_t most = step.consumer_failures;
  std::int64_t provider = std::max(step.passed_on, share_of(failed_, attempts_, step.requests));
  std::int64_t rejection = std::max(step.rejected, share_of(rejected_, attempts_, step.requests));
  if (provider + rejection > most) {
    provider = share_of(provider, provider + rejection, most);
    rejection = most - provider;
  }
  step.by_provider = provider;
  step.by_rejection = rejection;
}

void Attribution::save(Writer& writer) const {
  writer.i64(attempts_);
  writer.i64(failed_);
  writer.i64(rejected_);
  writer.i64(unix_ms(at_));
}

void Attribution::load(Reader& reader) {
  attempts_ = reader.i64();
  failed_ = reader.i64();
  rejected_ = reader.i64();
  at_ = from_unix_ms(reader.i64());
}

std::string_view to_string(AbsorptionOutcome outcome) {
  return std::ranges::find(kWords, outcome, [](const auto& word) { return word.first; })->second;
}

std::optional<AbsorptionOutcome> parse_absorption_outcome(std::string_view text) {
  for (const auto& [outcome, word] : kWords) {
    if (word == text && outcome > AbsorptionOutcome::too_few) return outcome;
  }
  return std::nullopt;
}

bool is_failing(AbsorptionOutcome outcome) {
  return outcome == AbsorptionOutcome::leaking || outcome == AbsorptionOutcome::rejected ||
         outcome == AbsorptionOutcome::self_inflicted;
}

AbsorptionJudgement judge_absorption(const SideCounts& counts, const AbsorptionLimits& limits) {
  AbsorptionJudgement judgement;
  judgement.provider_fails =
      counts.provider_failures > 0 && counts.provider_failures >= limits.min_provider_failures &&
      beyond(counts.provider_failures, limits.provider_failures, counts.attempts, true);
  judgement.above_limit =
      beyond(counts.consumer_failures, limits.consumer_failures, counts.requests, false);
  const bool proven = judgement.above_limit &&
                      counts.consumer_failures >= limits.min_consumer_failures &&
                      evidence(counts.consumer_failures, counts.requests,
                               limits.consumer_failures) >= std::log(AbsorptionLimits::kChance);
  if (proven) {
    judgement.outcome = blame(counts);
  } else if (counts.requests < limits.min_requests) {
    judgement.outcome = AbsorptionOutcome::too_few;
  } else if (judgement.provider_fails) {
    judgement.outcome = AbsorptionOutcome::absorbed;
  }
  return judgement;
}

std::optional<double> reach_of_failures(const SideCounts& counts) {
  if (counts.provider_failures <= 0 || counts.attempts <= 0 || counts.requests <= 0) {
    return std::nullopt;
  }
  const double consumers =
      static_cast<double>(counts.consumer_failures) / static_cast<double>(counts.requests);
  const double provider =
      static_cast<double>(counts.provider_failures) / static_cast<double>(counts.attempts);
  return consumers / provider;
}

}  // namespace outcomed
