#include "detectors/surge/fold.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "detectors/sentence.h"
#include "detectors/stats/ebh.h"
#include "queries/error_class.h"

namespace outcomed {
namespace {

// Fewer members than this failing together is their own matter.
constexpr std::size_t kTogether = 2;
constexpr std::uint32_t kLeastBadSteps = 3;
constexpr std::uint64_t kMostMembers = 100'000;

// "40 minutes", "25 days", "3 years", "more than 1,000 years".
std::string rare_words(double steps, Duration step) {
  const double minutes = steps * double(step.count()) / 60'000;
  const auto say = [](double x, std::string_view unit) {
    const double rounded = std::max(1.0, std::round(x));
    return fmt::format("{:.0f} {}{}", rounded, unit, rounded < 1.5 ? "" : "s");
  };
  if (minutes < 90) return say(minutes, "minute");
  if (minutes < 2 * 1440) return say(minutes / 60, "hour");
  if (minutes < 2 * 365 * 1440) return say(minutes / 1440, "day");
  const double years = minutes / 1440 / 365;
  return years > 1000 ? "more than 1,000 years" : say(years, "year");
}

std::string count_words(std::size_t count, std::string_view unit) {
  return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
}

std::string weight_words(double gamma, bool clumpy) {
  if (gamma == 1) return "evidence counts in full";
  if (clumpy) return fmt::format("this series is clumpy: evidence counts {}", format_share(gamma));
  return fmt::format("evidence counts {} until the series was watched for longer",
                     format_share(gamma));
}

std::string visible_words(double share) {
  if (share >= 1) return "too few requests for any alert within an hour";
  return fmt::format("can't support an alert below {} within an hour", format_share(share));
}

}  // namespace

SurgeFold::SurgeFold(const SurgeDetector& detector, Labels group)
    : detector_(&detector), group_(std::move(group)), total_(detector.settings()) {}

void SurgeFold::add_member(const Labels& labels) {
  members_.push_back({labels, SurgeSeries(detector_->settings())});
}

void SurgeFold::advance(const BucketRun& run, std::size_t step) {
  coverage_ = run.coverage[step];
  at_ = run.start + run.length * static_cast<std::int64_t>(step + 1);
  // Two detectors of one budget: each has half of it.
  total_.push(at_ - run.length, run.n[step], run.k[step], coverage_, members_.empty() ? 1 : 2);
  failing_ = total_.failing();
  if (!members_.empty()) advance_members(run, step);
}

std::size_t SurgeFold::advance_to_breach(const BucketRun& run, std::size_t from) {
  for (std::size_t i = from; i < run.size(); ++i) {
    SurgeFold::advance(run, i);
    if (SurgeFold::breached()) return i + 1 - from;
  }
  return run.size() - from;
}

void SurgeFold::advance_members(const BucketRun& run, std::size_t step) {
  const double alone = 2 * double(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const bool has_row = i < run.members.size();
    members_[i].series.push(at_ - run.length, has_row ? run.members[i].n[step] : 0,
                            has_row ? run.members[i].k[step] : 0, coverage_, alone);
  }
  judge_together();
  const auto failing =
      std::ranges::count_if(members_, [](const Member& member) { return member.series.failing(); });
  failing_ |= failing >= static_cast<std::ptrdiff_t>(kTogether);
}

// e-BH: r members that fail together need a r-th of the evidence that one alone does.
void SurgeFold::judge_together() {
  const auto candidate = [&](const SurgeSeries& series) {
    if (series.evidence() < 2 * series.budget_steps()) return false;
    const SurgeSeries::Since since = series.since();
    return since.bad_steps >= kLeastBadSteps && since.share() > detector_->settings().min_share;
  };
  const bool any = std::ranges::any_of(members_, [&](const Member& member) {
    return !member.series.latched() && candidate(member.series);
  });
  if (!any) return;
  std::vector<double> evidence;
  for (const Member& member : members_) {
    double e = 0;
    if (member.series.latched()) {
      e = std::numeric_limits<double>::infinity();
    } else if (candidate(member.series)) {
      e = member.series.evidence() / member.series.budget_steps();
    }
    evidence.push_back(e);
  }
  std::vector<double> sorted = evidence;
  const Discoveries found = e_bh(sorted, 0.5);
  if (found.count < kTogether) return;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (evidence[i] >= found.threshold) members_[i].series.latch();
  }
}

std::vector<const SurgeFold::Member*> SurgeFold::failing_members() const {
  std::vector<const Member*> failing;
  for (const Member& member : members_) {
    if (member.series.failing()) failing.push_back(&member);
  }
  return failing;
}

Judgement SurgeFold::judgement(std::size_t) const {
  if (const auto unseen = judgement_of(coverage_)) return *unseen;
  if (failing_) return Judgement::breached;
  // An alarm that nothing contradicts, for want of requests.
  if (total_.latched() || !total_.normal().known) return Judgement::too_few;
  return total_.hour().n > 0 ? Judgement::healthy : Judgement::too_few;
}

Timestamp SurgeFold::onset() const {
  Timestamp first = total_.since().start;
  const std::vector<const Member*> failing = failing_members();
  if (failing.size() < kTogether) return first;
  if (!total_.latched()) first = Timestamp::max();
  for (const Member* member : failing) first = std::min(first, member->series.since().start);
  return first;
}

std::string SurgeFold::counts(const Verdict& verdict) const {
  const SignalWords& words = detector_->words();
  return fmt::format("{} of {} {} {} ({})", verdict.k, verdict.n, words.unit, words.outcome,
                     format_share(verdict.measured));
}

std::string SurgeFold::normal_words() const {
  const SurgeNormal& normal = total_.normal();
  if (normal.known) return "normal is at most " + format_share(normal.ceiling);
  return fmt::format("what is normal isn't known yet, so up to {} counts as normal",
                     format_share(normal.ceiling));
}

std::string SurgeFold::chance_words() const {
  const std::vector<const Member*> failing = failing_members();
  if (total_.latched() || failing.size() < kTogether) {
    return "chance alone does this once in " + rare_words(total_.evidence(), total_.step());
  }
  double rarest = 0;
  for (const Member* member : failing) {
    rarest = std::max(rarest, member->series.evidence() * double(member->series.step().count()));
  }
  return "chance alone does this to one of them once in " + rare_words(rarest, Duration(1));
}

std::string SurgeFold::sentence(const Verdict& verdict) const {
  std::string text = subject(group_) + ": ";
  const std::vector<const Member*> failing = failing_members();
  if (failing_ && failing.size() >= kTogether) {
    text += fmt::format("{} of {} fail together: ", failing.size(), members_.size());
  }
  text += counts(verdict);
  const std::string_view why = error_class::phrase(group_.get("error_class"));
  if (!why.empty() && verdict.k > 0) text += fmt::format(", {}", why);
  if (failing_) {
    text += fmt::format(" since {}; {}; {}; the classic rule (over 10 % of 1h for 15m) {}.",
                        format_since(verdict.onset, verdict.at), normal_words(), chance_words(),
                        total_.classic() ? "fires too" : "is silent");
    return text;
  }
  text += " in the last hour; ";
  const SurgeNormal& normal = total_.normal();
  if (normal.known) return text + normal_words() + ".";
  return text + fmt::format("{} ({} and {} seen; 24 hours and 100 {} are needed).", normal_words(),
                            count_words(static_cast<std::size_t>(normal.hours), "hour"),
                            fmt::format("{} {}", normal.requests, detector_->words().unit),
                            detector_->words().unit);
}

void SurgeFold::add_facts(Verdict& verdict) const {
  const auto fact = [&](std::string name, std::string value) {
    verdict.facts.emplace_back(std::move(name), std::move(value));
  };
  const SurgeNormal& normal = total_.normal();
  fact("k", fmt::format("{}", verdict.k));
  fact("n", fmt::format("{}", verdict.n));
  fact("share", format_share(verdict.measured));
  fact("interval_95", format_share(verdict.low) + " to " + format_share(verdict.high));
  fact("normal_at_most", format_share(normal.ceiling) + (normal.known ? "" : " (assumed)"));
  fact("normal_share", normal.known ? format_share(normal.share) : "not known yet");
  fact("learned_from", learned_words());
  fact("weight", weight_words(total_.gamma_static(), total_.tempering().clumpy_static()));
  fact("weight_of_filter",
       normal.filter ? weight_words(total_.gamma_filter(), total_.tempering().clumpy_filter())
                     : "not in use: too few hours so far");
  fact("visible_in_1h", visible_words(total_.visible_in_an_hour()));
  fact("chance", chance_words());
  fact("budget", fmt::format("at most one false page every {}",
                             format_duration(detector_->params().false_page_every)));
  fact("classic_rule",
       fmt::format("over 10 % of 1h for 15m: {}, {} of {} in the last hour",
                   total_.classic() ? "fires" : "silent", total_.hour().k, total_.hour().n));
  for (const Member* member : failing_members()) {
    const SurgeSeries::Since since = member->series.since();
    fact("fails", fmt::format("{}: {} of {} ({})", member->labels.to_string(), since.k, since.n,
                              format_share(since.share())));
  }
  add_since(verdict);
}

std::string SurgeFold::learned_words() const {
  const SurgeNormal& normal = total_.normal();
  const double days = double(normal.hours) * double(detector_->settings().block_ms()) /
                      double(SurgeSettings::kDayMs);
  return fmt::format("{} {} in {:.1f} of {} days without incidents", normal.requests,
                     detector_->words().unit, days, detector_->params().learn_days);
}

Verdict SurgeFold::verdict(std::size_t tier) const {
  Verdict verdict;
  verdict.judgement = judgement(tier);
  verdict.at = at_;
  verdict.onset = onset();
  const HourOfSteps::Sums hour = total_.hour();
  verdict.n = hour.n;
  verdict.k = hour.k;
  if (failing_) {
    std::vector<SurgeSeries::Since> parts;
    if (total_.latched()) {
      parts.push_back(total_.since());
    } else {
      for (const Member* member : failing_members()) parts.push_back(member->series.since());
    }
    verdict.n = verdict.k = 0;
    for (const SurgeSeries::Since& part : parts) {
      verdict.n += part.n;
      verdict.k += part.k;
    }
  }
  verdict.measured = verdict.n > 0 ? double(verdict.k) / double(verdict.n) : 0;
  verdict.threshold = total_.normal().ceiling;
  const Interval interval = wilson(verdict.k, verdict.n);
  verdict.low = interval.low;
  verdict.high = interval.high;
  verdict.sentence = sentence(verdict);
  add_facts(verdict);
  return verdict;
}

bool SurgeFold::idle() const {
  return total_.empty() &&
         std::ranges::all_of(members_, [](const Member& member) { return member.series.empty(); });
}

void SurgeFold::save(Writer& writer) const {
  writer.u64(static_cast<std::uint64_t>(coverage_));
  writer.i64(unix_ms(at_));
  writer.u64(failing_ ? 1 : 0);
  total_.save(writer);
  writer.u64(members_.size());
  for (const Member& member : members_) {
    writer.labels(member.labels);
    member.series.save(writer);
  }
}

bool SurgeFold::load(Reader& reader) {
  coverage_ = static_cast<Coverage>(std::min<std::uint64_t>(reader.u64(), 3));
  at_ = from_unix_ms(reader.i64());
  failing_ = reader.u64() != 0;
  if (!total_.load(reader)) return false;
  const std::uint64_t count = reader.u64();
  if (count > kMostMembers) return false;
  members_.clear();
  for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
    add_member(reader.labels());
    if (!members_.back().series.load(reader)) return false;
  }
  return reader.ok();
}

}  // namespace outcomed
