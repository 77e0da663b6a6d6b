#include "detectors/share/fold.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "detectors/sentence.h"
#include "queries/error_class.h"

namespace outcomed {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;
// An hour with fewer requests says nothing about what is normal.
constexpr std::int64_t kNormalRequests = 20;

std::size_t steps_of(const ShareDetector& detector) {
  const Duration step = std::max(detector.words().step, Duration(1));
  return static_cast<std::size_t>(std::max<std::int64_t>(1, detector.params().window / step));
}

// Binomial log-likelihood of k of n at its own share, up to a constant.
double fit(double n, double k) {
  double sum = 0;
  if (k > 0) sum += k * std::log(k / n);
  if (n > k) sum += (n - k) * std::log((n - k) / n);
  return sum;
}

}  // namespace

ShareFold::ShareFold(const ShareDetector& detector, Labels group)
    : detector_(&detector), group_(std::move(group)), window_(steps_of(detector)) {}

bool ShareFold::beyond(double line) const {
  const auto n = static_cast<double>(window_.n());
  const auto k = static_cast<double>(window_.k());
  // A line of 0.1 is not a binary fraction: 10 of 100 must not be above it by rounding.
  const double edge = line * n;
  const double slack = 1e-9 * std::max(1.0, edge);
  return detector_->is_below() ? k < edge - slack : k > edge + slack;
}

bool ShareFold::enough_failures() const {
  return detector_->is_below() || window_.k() >= detector_->params().min_failures;
}

void ShareFold::track_evidence(const Bucket& bucket) {
  const auto n = static_cast<double>(bucket.n);
  const auto k = static_cast<double>(bucket.k);
  // Half-way between the line and the good end of the scale.
  const double line = detector_->first_line();
  const double excess = detector_->is_below() ? (1 + line) / 2 * n - k : k - line / 2 * n;
  evidence_ = std::max(0.0, evidence_ + excess);
}

// The split of the window into "before" and "since" under which its counts are most likely
// (maximum-likelihood change point of a binomial share); what was normal counts as "before".
Timestamp ShareFold::most_likely_onset(const Bucket& newest) const {
  const Normal usual = normal();
  double since_n = 0;
  double since_k = 0;
  const auto all_n = static_cast<double>(window_.n() + usual.n);
  const auto all_k = static_cast<double>(window_.k() + usual.k);
  double best = -1e300;
  std::size_t best_back = 0;
  for (std::size_t back = 0; back < window_.filled(); ++back) {
    const ShareWindow::Slot& slot = window_.slot(back);
    if (slot.n == 0) continue;  // A step without requests belongs to neither.
    since_n += static_cast<double>(slot.n);
    since_k += static_cast<double>(slot.k);
    const double before_n = all_n - since_n;
    const double before_k = all_k - since_k;
    const double rise =
        since_k * before_n - before_k * since_n;  // Sign of the difference of shares.
    if (before_n > 0 && (detector_->is_below() ? rise > 0 : rise < 0)) continue;
    const double likelihood = fit(since_n, since_k) + fit(before_n, before_k);
    if (likelihood < best) continue;
    best = likelihood;
    best_back = back;
  }
  return newest.start - detector_->words().step * static_cast<std::int64_t>(best_back);
}

// Some tier is breached when the line that is crossed first is.
void ShareFold::track_onset(const Bucket& bucket) {
  const bool breached =
      crossed_ && enough_failures() && window_.n() >= detector_->params().min_requests;
  if (breached && !breached_) onset_ = most_likely_onset(bucket);
  if (!breached && breached_) evidence_ = 0;  // Over: the next change has evidence of its own.
  breached_ = breached;
}

// Hours learn what happened while nothing was wrong; what may belong to a change waits until its
// evidence is gone, and is thrown away if there was a breach meanwhile.
void ShareFold::learn(const Bucket& bucket) {
  open_n_ += bucket.n;
  open_k_ += bucket.k;
  tainted_ |= breached_;
  if (evidence_ > 0) return;
  if (!tainted_) {
    const std::int64_t hour = unix_ms(bucket.start) / kHourMs;
    NormalHour& slot = hours_[static_cast<std::size_t>(hour) % hours_.size()];
    if (slot.hour != hour) slot = {hour, 0, 0};
    slot.n += open_n_;
    slot.k += open_k_;
  }
  open_n_ = open_k_ = 0;
  tainted_ = false;
}

void ShareFold::advance(const Bucket& bucket) {
  at_ = bucket.end();
  coverage_ = bucket.coverage;
  if (bucket.coverage != Coverage::complete) {
    window_.push(0, 0);  // The step passes; what happened in it is not known.
    return;
  }
  window_.push(bucket.n, bucket.k);
  crossed_ = beyond(detector_->first_line());
  track_evidence(bucket);
  track_onset(bucket);
  learn(bucket);
}

Judgement ShareFold::judgement(std::size_t tier) const {
  switch (coverage_) {
    case Coverage::missing:
      return Judgement::no_data;
    case Coverage::partial:
      return Judgement::partial;
    case Coverage::failed:
      return Judgement::failed;
    case Coverage::complete:
      break;
  }
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

std::string ShareFold::sentence(const Verdict& verdict) const {
  const ShareParams& params = detector_->params();
  const SignalWords& words = detector_->words();
  std::string text = fmt::format("{}: {} of {} {} ({}) {} in the last {}", subject(group_),
                                 verdict.k, verdict.n, words.unit, format_share(verdict.measured),
                                 words.outcome, format_duration(params.window));
  const std::string_view why = error_class::phrase(group_.get("error_class"));
  if (!why.empty() && verdict.k > 0) text += fmt::format(", {}", why);
  const Normal usual = normal();
  if (usual.hours > 0 && !detector_->is_below()) {
    text += fmt::format("; normal is {}{}", usual.highest > 0 ? "at most " : "",
                        format_share(usual.highest));
  } else if (usual.n > 0) {
    text += fmt::format("; before it was {}", format_share(double(usual.k) / double(usual.n)));
  }
  if (verdict.judgement == Judgement::breached || verdict.judgement == Judgement::lingering) {
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
  fact("k", fmt::format("{}", verdict.k));
  fact("n", fmt::format("{}", verdict.n));
  fact("share", format_share(verdict.measured));
  fact("interval_95", format_share(interval.low) + " to " + format_share(interval.high));
  fact(detector_->is_below() ? "below" : "above", format_share(verdict.threshold));
  fact("window", format_duration(params.window));
  fact("for", format_duration(detector_->tiers()[tier].hold));
  fact("min_requests", fmt::format("{}", params.min_requests));
  fact("min_failures", fmt::format("{}", params.min_failures));
  if (params.resolve_below) fact("resolve_below", format_share(*params.resolve_below));
  if (params.resolve_above) fact("resolve_above", format_share(*params.resolve_above));
  const Normal usual = normal();
  if (usual.n > 0) {
    fact("before", fmt::format("{} of {} ({}) in up to 24h without a breach", usual.k, usual.n,
                               format_share(double(usual.k) / double(usual.n))));
  }
  fact("since", format_rfc3339(verdict.onset));
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
