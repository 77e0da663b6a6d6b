#include "detectors/absorption/fold.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "detectors/absorption/wording.h"
#include "detectors/sentence.h"
#include "detectors/stats/change_point.h"
#include "queries/failure_side.h"

namespace outcomed {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;
// The rule that everybody knows, shown beside the verdict: above 10 %, at least 11 failures.
constexpr std::int64_t kClassicFailures = 11;

std::size_t steps_of(const AbsorptionDetector& detector) {
  const Duration step = std::max(detector.words().step, Duration(1));
  return static_cast<std::size_t>(std::max<std::int64_t>(1, detector.params().window / step));
}

}  // namespace

AbsorptionFold::AbsorptionFold(const AbsorptionDetector& detector, Labels group)
    : detector_(&detector),
      group_(std::move(group)),
      limit_(steps_of(detector)),
      now_(judge_absorption({}, detector.limits())) {}

void AbsorptionFold::add_member(const Labels& member) {
  sides_.emplace_back(member.get(failure_side::kLabel));
  places_.push_back(SideCounts::place_of(sides_.back()));
}

void AbsorptionFold::push(const Slot& slot) {
  if (slots_.size() < limit_) {
    slots_.push_back(slot);
  } else {
    Slot& oldest = slots_[next_];
    sum_ -= oldest.counts;
    unknown_steps_ -= oldest.known ? 0 : 1;
    oldest = slot;
  }
  if (++next_ == limit_) next_ = 0;
  sum_ += slot.counts;
  unknown_steps_ += slot.known ? 0 : 1;
}

const AbsorptionFold::Slot& AbsorptionFold::slot(std::size_t back) const {
  const std::size_t newest = (next_ + slots_.size() - 1) % slots_.size();
  return slots_[(newest + slots_.size() - back) % slots_.size()];
}

void AbsorptionFold::advance(const BucketRun& run, std::size_t step) {
  const Timestamp start = run.start + run.length * static_cast<std::int64_t>(step);
  at_ = start + run.length;
  coverage_ = run.coverage[step];
  const std::int64_t hour = unix_ms(floor_to(start, Duration(kHourMs))) / kHourMs;
  HourSlot& told = hours_[static_cast<std::size_t>(hour % 25 + 25) % 25];
  if (told.hour != hour) told = {hour, 0, {}};
  if (coverage_ != Coverage::complete) {
    push({{}, false});  // The step passes; what happened in it is not known.
    told.unknown_ms += run.length.count();
    now_ = judge_absorption(sum_, detector_->limits());  // Of what is still known; no breach by it.
    return;
  }
  Slot slot;
  const std::size_t members = std::min(places_.size(), run.members.size());
  for (std::size_t member = 0; member < members; ++member) {
    slot.counts.add(places_[member], run.members[member].n[step], run.members[member].k[step]);
  }
  attribution_.attribute(slot.counts, start);
  push(slot);
  told.counts += slot.counts;
  judge(start);
}

void AbsorptionFold::judge(Timestamp start) {
  now_ = judge_absorption(sum_, detector_->limits());
  const bool breached = detector_->breaches(now_.outcome);
  if (breached && !breached_) onset_ = most_likely_onset(start);
  breached_ = breached;
}

// The split of the window into "before" and "since" under which the failing side's counts are most
// likely (maximum-likelihood change point of a binomial share).
Timestamp AbsorptionFold::most_likely_onset(Timestamp newest) const {
  const bool consumers = is_failing(now_.outcome);
  const auto n_of = [&](const SideCounts& c) {
    return static_cast<double>(consumers ? c.requests : c.attempts);
  };
  const auto k_of = [&](const SideCounts& c) {
    return static_cast<double>(consumers ? c.consumer_failures : c.provider_failures);
  };
  ChangePoint change(n_of(sum_), k_of(sum_), ChangeSide::rise);
  for (std::size_t back = 0; back < slots_.size(); ++back) {
    const SideCounts& counts = slot(back).counts;
    change.step(back, n_of(counts), k_of(counts));
  }
  return newest - detector_->words().step * static_cast<std::int64_t>(change.back());
}

Judgement AbsorptionFold::judgement(std::size_t) const {
  if (const auto unseen = judgement_of(coverage_)) return *unseen;
  if (breached_) return Judgement::breached;
  if (now_.outcome == AbsorptionOutcome::too_few) return Judgement::too_few;
  if (now_.above_limit && !is_failing(now_.outcome)) return Judgement::lingering;
  return Judgement::healthy;
}

AbsorptionFold::ToldHours AbsorptionFold::told_hours() const {
  ToldHours told;
  const std::int64_t now = unix_ms(at_) / kHourMs;
  for (const HourSlot& slot : hours_) {
    if (slot.hour < 0 || slot.hour > now || now - slot.hour > 24) continue;
    const AbsorptionJudgement judgement = judge_absorption(slot.counts, detector_->limits());
    if (!judgement.provider_fails) continue;
    ++told.provider_fails;
    if (slot.unknown_ms > 0) continue;
    told.absorbed += judgement.outcome == AbsorptionOutcome::absorbed ? 1 : 0;
    told.failure_free += slot.counts.requests > 0 && slot.counts.consumer_failures == 0 ? 1 : 0;
  }
  return told;
}

std::string AbsorptionFold::sentence(const Verdict& verdict) const {
  std::string text = subject(group_) + ": ";
  text += describe_absorption(
      sum_, now_.outcome,
      fmt::format("in the last {}", format_duration(detector_->params().window)),
      detector_->words().unit);
  const bool changed =
      verdict.judgement == Judgement::breached || verdict.judgement == Judgement::lingering;
  if (changed && verdict.onset != Timestamp{}) {
    text += fmt::format("; since {}", format_since(verdict.onset, verdict.at));
  }
  return text + ".";
}

void AbsorptionFold::add_facts(Verdict& verdict) const {
  const AbsorptionLimits& limits = detector_->limits();
  const auto fact = [&](std::string name, std::string value) {
    verdict.facts.emplace_back(std::move(name), std::move(value));
  };
  fact("verdict", std::string(to_string(now_.outcome)));
  fact("consumer_failures", fmt::format("{} of {}", sum_.consumer_failures, sum_.requests));
  fact("consumer_interval_95", format_share(verdict.low) + " to " + format_share(verdict.high));
  fact("refused_by_router", fmt::format("{}", sum_.refused));
  fact("rejected_by_provider", fmt::format("{}", sum_.rejected));
  fact("passed_on_from_provider", fmt::format("{}", sum_.passed_on));
  fact("explained", fmt::format("{} by the provider's failures, {} by its rejections",
                                sum_.by_provider, sum_.by_rejection));
  fact("provider_failures",
       fmt::format("{} of {} attempts", sum_.provider_failures, sum_.attempts));
  fact("provider_counts", kAttemptsAreALowerBound);
  if (const auto reach = reach_of_failures(sum_)) {
    fact("reaches_consumers",
         *reach > 1 ? fmt::format("consumers fail {:.1f} times as often as attempts", *reach)
                    : fmt::format("{} of the provider's failing share", format_share(*reach)));
  }
  fact("limits",
       fmt::format("provider from {} and {} attempts on, consumers above {} and from {} {} "
                   "on, chance at most 1 in {:g}",
                   format_share(limits.provider_failures), limits.min_provider_failures,
                   format_share(limits.consumer_failures), limits.min_consumer_failures,
                   detector_->words().unit, AbsorptionLimits::kChance));
  fact("window", format_duration(detector_->params().window));
  if (unknown_steps_ > 0) {
    fact("unknown", fmt::format("{} of the window without complete data",
                                format_duration(detector_->words().step * unknown_steps_)));
  }
  const ToldHours told = told_hours();
  fact("last_24h",
       fmt::format("provider failing in {} hours: absorbed in {}, no request failed in {}",
                   told.provider_fails, told.absorbed, told.failure_free));
  const bool classic =
      sum_.consumer_failures >= kClassicFailures && sum_.consumer_failures * 10 > sum_.requests;
  fact("classic_rule",
       fmt::format("more than 10 % of {} and at least {}: {}", detector_->words().unit,
                   kClassicFailures, classic ? "breached" : "not breached"));
  add_since(verdict);
}

Verdict AbsorptionFold::verdict(std::size_t tier) const {
  Verdict verdict;
  verdict.judgement = judgement(tier);
  verdict.at = at_;
  verdict.onset = onset_;
  verdict.n = sum_.requests;
  verdict.k = sum_.consumer_failures;
  verdict.measured =
      verdict.n > 0 ? static_cast<double>(verdict.k) / static_cast<double>(verdict.n) : 0;
  verdict.threshold = detector_->limits().consumer_failures;
  const Interval interval = wilson(verdict.k, verdict.n);
  verdict.low = interval.low;
  verdict.high = interval.high;
  verdict.sentence = sentence(verdict);
  add_facts(verdict);
  return verdict;
}

bool AbsorptionFold::idle() const {
  const bool hours_empty = std::ranges::all_of(hours_, [](const HourSlot& slot) {
    return slot.counts == SideCounts{} && slot.unknown_ms == 0;
  });
  return sum_ == SideCounts{} && unknown_steps_ == 0 && hours_empty;
}

void AbsorptionFold::save(Writer& writer) const {
  writer.u64(sides_.size());
  for (const std::string& side : sides_) writer.text(side);
  writer.u64(slots_.size());
  writer.u64(next_);
  for (const Slot& slot : slots_) {
    slot.counts.save(writer);
    writer.u64(slot.known ? 1 : 0);
  }
  attribution_.save(writer);
  writer.u64(static_cast<std::uint64_t>(coverage_));
  writer.i64(unix_ms(at_));
  writer.i64(unix_ms(onset_));
  writer.u64(breached_ ? 1 : 0);
  for (const HourSlot& slot : hours_) {
    writer.i64(slot.hour);
    writer.i64(slot.unknown_ms);
    slot.counts.save(writer);
  }
}

bool AbsorptionFold::load(Reader& reader) {
  sides_.clear();
  places_.clear();
  for (std::uint64_t left = reader.u64(); left > 0 && reader.ok(); --left) {
    sides_.push_back(reader.text());
    places_.push_back(SideCounts::place_of(sides_.back()));
  }
  const std::uint64_t size = reader.u64();
  next_ = reader.u64();
  if (size > limit_ || next_ >= limit_) return false;
  if (size < limit_ && next_ != size) return false;
  slots_.clear();
  sum_ = {};
  unknown_steps_ = 0;
  for (std::uint64_t i = 0; i < size && reader.ok(); ++i) {
    Slot slot;
    slot.counts = SideCounts::load(reader);
    slot.known = reader.u64() != 0;
    sum_ += slot.counts;
    unknown_steps_ += slot.known ? 0 : 1;
    slots_.push_back(slot);
  }
  attribution_.load(reader);
  coverage_ = static_cast<Coverage>(std::min<std::uint64_t>(reader.u64(), 3));
  at_ = from_unix_ms(reader.i64());
  onset_ = from_unix_ms(reader.i64());
  breached_ = reader.u64() != 0;
  for (HourSlot& slot : hours_) {
    slot.hour = reader.i64();
    slot.unknown_ms = reader.i64();
    slot.counts = SideCounts::load(reader);
  }
  now_ = judge_absorption(sum_, detector_->limits());
  return reader.ok();
}

}  // namespace outcomed
