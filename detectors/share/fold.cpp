#include "detectors/share/fold.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "detectors/sentence.h"
#include "detectors/stats/change_point.h"
#include "queries/error_class.h"
#include "queries/prices/money.h"

namespace outcomed {
namespace {

// An hour with fewer requests says nothing about what is normal.
constexpr std::int64_t kNormalRequests = 20;

std::size_t steps_of(const ShareDetector& detector) {
  const Duration step = std::max(detector.words().step, Duration(1));
  return static_cast<std::size_t>(std::max<std::int64_t>(1, detector.params().window / step));
}

}  // namespace

ShareFold::ShareFold(const ShareDetector& detector, Labels group)
    : detector_(&detector), group_(std::move(group)), window_(steps_of(detector)) {}

// The split of the window into "before" and "since" under which its counts are most likely
// (maximum-likelihood change point of a binomial share); what was normal counts as "before".
Timestamp ShareFold::most_likely_onset(const Bucket& newest) const {
  const Normal usual = normal();
  ChangePoint change(static_cast<double>(window_.n() + usual.n),
                     static_cast<double>(window_.k() + usual.k),
                     detector_->is_below() ? ChangeSide::fall : ChangeSide::rise);
  for (std::size_t back = 0; back < window_.filled(); ++back) {
    const ShareWindow::Slot& slot = window_.slot(back);
    change.step(back, static_cast<double>(slot.n), static_cast<double>(slot.k));
  }
  return newest.start - detector_->words().step * static_cast<std::int64_t>(change.back());
}

std::size_t ShareFold::advance_to_breach(const BucketRun& run, std::size_t from) {
  for (std::size_t i = from; i < run.size(); ++i) {
    take(run[i]);
    if (ShareFold::breached()) return i + 1 - from;
  }
  return run.size() - from;
}

Judgement ShareFold::judgement(std::size_t tier) const {
  if (const auto unseen = judgement_of(coverage_)) return *unseen;
  const ShareParams& params = detector_->params();
  if (window_.n() < params.min_requests) return Judgement::too_few;
  if (crossed_ && beyond(detector_->line(tier))) {
    return enough_failures() ? Judgement::breached : Judgement::lingering;
  }
  const auto back = detector_->is_below() ? params.resolve_above : params.resolve_below;
  if (back && !detector_->is_below() && !(double(window_.k()) < *back * double(window_.n()))) {
    return Judgement::lingering;
  }
  if (back && detector_->is_below() && !(double(window_.k()) > *back * double(window_.n()))) {
    return Judgement::lingering;
  }
  return Judgement::healthy;
}

ShareFold::Normal ShareFold::normal() const {
  Normal normal;
  const std::int64_t now = unix_ms(at_) / kHourMs;
  for (const NormalHour& slot : hours_) {
    if (slot.hour < 0 || slot.hour > now || now - slot.hour > 24) continue;
    normal.n += slot.n;
    normal.k += slot.k;
    if (slot.n < kNormalRequests) continue;
    ++normal.hours;
    normal.highest = std::max(normal.highest, double(slot.k) / double(slot.n));
  }
  return normal;
}

std::string ShareFold::amount(std::int64_t count) const {
  return detector_->words().money ? format_money({count}) : fmt::format("{}", count);
}

std::string ShareFold::sentence(const Verdict& verdict) const {
  const ShareParams& params = detector_->params();
  const SignalWords& words = detector_->words();
  std::string text = verdict.n > 0
                         ? fmt::format("{}: {} of {} {} ({}) {} in the last {}", subject(group_),
                                       amount(verdict.k), amount(verdict.n), words.unit,
                                       format_share(verdict.measured), words.outcome,
                                       format_duration(params.window))
                         : fmt::format("{}: no {} in the last {}", subject(group_), words.unit,
                                       format_duration(params.window));
  const std::string_view why = error_class::phrase(group_.get("error_class"));
  if (!why.empty() && verdict.k > 0) text += fmt::format(", {}", why);
  const Normal usual = normal();
  if (usual.hours > 0 && !detector_->is_below()) {
    text += fmt::format("; normal is {}{}", usual.highest > 0 ? "at most " : "",
                        format_share(usual.highest));
  } else if (usual.n > 0) {
    text += fmt::format("; before it was {}", format_share(double(usual.k) / double(usual.n)));
  }
  const bool changed =
      verdict.judgement == Judgement::breached || verdict.judgement == Judgement::lingering;
  if (changed && verdict.onset != Timestamp{}) {
    text += fmt::format("; since {}", format_since(verdict.onset, verdict.at));
  }
  return text + ".";
}

Verdict ShareFold::verdict(std::size_t tier) const {
  const ShareParams& params = detector_->params();
  Verdict verdict;
  verdict.judgement = judgement(tier);
  verdict.at = at_;
  verdict.onset = onset_;
  verdict.n = window_.n();
  verdict.k = window_.k();
  verdict.measured = verdict.n > 0 ? double(verdict.k) / double(verdict.n) : 0;
  verdict.threshold = detector_->line(tier);
  const Interval interval = wilson(verdict.k, verdict.n);
  verdict.low = interval.low;
  verdict.high = interval.high;
  verdict.sentence = sentence(verdict);
  const auto fact = [&](std::string name, std::string value) {
    verdict.facts.emplace_back(std::move(name), std::move(value));
  };
  fact("k", amount(verdict.k));
  fact("n", amount(verdict.n));
  if (verdict.n > 0) fact("share", format_share(verdict.measured));
  if (verdict.n > 0 && !detector_->words().money) {  // Sums, not samples.
    fact("interval_95", format_share(interval.low) + " to " + format_share(interval.high));
  }
  fact(detector_->is_below() ? "below" : "above", format_share(verdict.threshold));
  fact("window", format_duration(params.window));
  fact("for", format_duration(detector_->tiers()[tier].hold));
  fact("min_requests", amount(params.min_requests));
  fact("min_failures", amount(params.min_failures));
  if (params.resolve_below) fact("resolve_below", format_share(*params.resolve_below));
  if (params.resolve_above) fact("resolve_above", format_share(*params.resolve_above));
  const Normal usual = normal();
  if (usual.n > 0) {
    fact("before", fmt::format("{} of {} ({}) in up to 24h without a breach", amount(usual.k),
                               amount(usual.n), format_share(double(usual.k) / double(usual.n))));
  }
  add_since(verdict);
  return verdict;
}

bool ShareFold::idle() const { return window_.n() == 0 && window_.k() == 0 && normal().n == 0; }

void ShareFold::save(Writer& writer) const {
  window_.save(writer);
  writer.u64(static_cast<std::uint64_t>(coverage_));
  writer.i64(unix_ms(at_));
  writer.f64(evidence_);
  writer.i64(unix_ms(onset_));
  writer.i64(open_n_);
  writer.i64(open_k_);
  writer.u64(tainted_ ? 1 : 0);
  writer.u64(breached_ ? 1 : 0);
  for (const NormalHour& slot : hours_) {
    writer.i64(slot.hour);
    writer.i64(slot.n);
    writer.i64(slot.k);
  }
}

bool ShareFold::load(Reader& reader) {
  if (!window_.load(reader)) return false;
  crossed_ = beyond(detector_->first_line());
  coverage_ = static_cast<Coverage>(std::min<std::uint64_t>(reader.u64(), 3));
  at_ = from_unix_ms(reader.i64());
  evidence_ = reader.f64();
  onset_ = from_unix_ms(reader.i64());
  open_n_ = reader.i64();
  open_k_ = reader.i64();
  tainted_ = reader.u64() != 0;
  breached_ = reader.u64() != 0;
  for (NormalHour& slot : hours_) {
    slot.hour = reader.i64();
    slot.n = reader.i64();
    slot.k = reader.i64();
  }
  return reader.ok();
}

}  // namespace outcomed
