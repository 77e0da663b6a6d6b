// What a baseline rule says to people.
#include <fmt/core.h>

#include <cmath>

#include "detectors/baseline/fold.h"
#include "detectors/chance_words.h"
#include "detectors/sentence.h"

namespace outcomed {
namespace {

double share_of(std::int64_t k, std::int64_t n) { return n > 0 ? double(k) / double(n) : 0; }

// "less than half of it": past the line of the rule.
std::string past_line(const BaselineDetector& detector, Direction direction) {
  if (direction == Direction::rises) {
    const double times = detector.rises_to().value_or(0);
    return times == 2 ? "more than twice that"
                      : fmt::format("more than {:g} % of that", times * 100);
  }
  const double part = detector.params().falls_to.value_or(0);
  return part == 0.5 ? "less than half of that"
                     : fmt::format("less than {} of that", format_share(part));
}

// Chance that a normal day is past the line so far; 1 when it isn't past it.
double chance_of(const DayFinding& finding) {
  return finding.chance[static_cast<std::size_t>(finding.direction)];
}

bool is_beyond(const DayFinding& finding) {
  return finding.beyond[static_cast<std::size_t>(finding.direction)];
}

std::string breach(const BaselineDetector& detector, const DayFinding& finding) {
  const bool falls = finding.direction == Direction::falls;
  const std::string side = falls ? "below" : "above";
  const std::string so_far = fmt::format("{} of {}, {}", finding.since_k, finding.since_n,
                                         format_share(share_of(finding.since_k, finding.since_n)));
  if (finding.halved) {
    std::string text =
        fmt::format(" - {}, and chance alone does this {}", past_line(detector, finding.direction),
                    format_once_in(1 / chance_of(finding)));
    if (finding.since_days > 1) {
      text += fmt::format("; {} normal for {} ({})", side, days_text(finding.since_days), so_far);
    }
    return text;
  }
  std::string text = " - ";
  if (is_beyond(finding)) {
    text += past_line(detector, finding.direction) + ", and ";
  } else if (falls && detector.params().falls_to == 0.5) {
    text += "not halved, but ";
  }
  const std::string rare = format_once_in(std::exp(finding.evidence));
  if (finding.since_days == 1) {
    return text + fmt::format("so far {} normal that chance alone does this {}", side, rare);
  }
  return text + fmt::format("{} normal for {} ({}), and chance alone does this {}", side,
                            days_text(finding.since_days), so_far, rare);
}

std::string state(const BaselineDetector& detector, const DayFinding& finding) {
  const std::string side = finding.direction == Direction::falls ? "below" : "above";
  switch (finding.outcome) {
    case DayEpisode::Outcome::breached:
      return breach(detector, finding);
    case DayEpisode::Outcome::waning:
      return fmt::format(" - nearer to normal, but that doesn't yet outweigh {} {} it",
                         days_text(finding.since_days - 1), side);
    case DayEpisode::Outcome::recovered:
      return " - normal again";
    case DayEpisode::Outcome::accepted:
      return fmt::format(" - the level since {} counts as normal from now on",
                         format_day(finding.onset));
    case DayEpisode::Outcome::quiet:
      break;
  }
  if (is_beyond(finding)) {
    return fmt::format(" - {}, but chance alone does this {}",
                       past_line(detector, finding.direction),
                       format_once_in(1 / chance_of(finding)));
  }
  return "";
}

}  // namespace

// Why the last day that is over was not judged.
std::string BaselineFold::unjudged() const {
  const std::string day = format_day(closed_);
  const std::string& unit = detector_->words().unit;
  if (std::string why = why_unseen(judgement_, day, seen_); !why.empty()) return why;
  if (sums_.n == 0) return fmt::format("no {} on {}", unit, day);
  return fmt::format("{} {} on {}, fewer than {}: not judged", format_count(double(sums_.n)), unit,
                     day, detector_->days().min_items);
}

std::string BaselineFold::sentence() const {
  const SignalWords& words = detector_->words();
  std::string text = subject(group_) + ": ";
  if (!any_closed_) return text + "no day is over yet.";
  if (!judged_) return text + unjudged() + ".";
  text += fmt::format("{} of {} {} {} ({}) on {}", format_count(double(sums_.k)),
                      format_count(double(sums_.n)), words.unit, words.outcome,
                      format_share(share_of(sums_.k, sums_.n)), format_day(closed_));
  if (seen_ < 0.99) text += fmt::format(", of which {} was seen", format_share(seen_));
  if (!finding_.established) {
    text += fmt::format("; no normal yet: {} of the {} days that it takes", finding_.days,
                        detector_->days().least_days());
    if (!members_.empty()) text += " with " + members_[member_].to_string();
    if (finding_.outcome == DayEpisode::Outcome::recovered) text += ", so the alert ends";
    return text + ".";
  }
  text += fmt::format("; usual is {} (median of {})", format_share(finding_.median),
                      days_text(finding_.days));
  text += state(*detector_, finding_);
  if (judgement_ == Judgement::breached || judgement_ == Judgement::lingering) {
    text += fmt::format("; since {}", format_day(finding_.onset));
  }
  return text + ".";
}

void BaselineFold::add_facts(Verdict& verdict) const {
  const auto fact = [&](std::string name, std::string value) {
    verdict.facts.emplace_back(std::move(name), std::move(value));
  };
  fact("day", fmt::format("{} ({})", format_day(closed_), detector_->days().time_zone));
  fact("k", fmt::format("{}", sums_.k));
  fact("n", fmt::format("{}", sums_.n));
  fact("share", format_share(verdict.measured));
  fact("interval_95", format_share(verdict.low) + " to " + format_share(verdict.high));
  if (seen_ < 0.99) fact("seen", format_share(seen_) + " of the day");
  if (!members_.empty()) fact("baseline_of", members_[member_].to_string());
  if (!judged_ || !finding_.established) return;
  const auto side = static_cast<std::size_t>(finding_.direction);
  const bool falls = finding_.direction == Direction::falls;
  const NormalLevel& level = finding_.levels[side];
  const auto seen_as = [&](double share) { return format_share(falls ? share : 1 - share); };
  fact("median", fmt::format("{} of {}", format_share(finding_.median), days_text(finding_.days)));
  fact("normal", fmt::format("{}, from {} of {} in {}", seen_as(level.share),
                             format_count(falls ? level.k : level.n - level.k),
                             format_count(level.n), days_text(level.days)));
  fact("worst_normal", seen_as(level.worst_share()));
  fact("correlation_within_a_day", fmt::format("{:.3f}", level.rho));
  // The rule as people know it, without the guard.
  if (detector_->params().falls_to) {
    fact("halving_rule", !finding_.beyond[0] ? "would not fire"
                                             : fmt::format("would fire; chance alone does this {}",
                                                           format_once_in(1 / finding_.chance[0])));
  }
  fact("evidence_rule", fmt::format("{}; fires at {}", format_once_in(std::exp(finding_.evidence)),
                                    format_once_in(detector_->days().budget())));
  add_since(verdict);
}

Verdict BaselineFold::verdict(std::size_t tier) const {
  Verdict verdict;
  verdict.judgement = judgement(tier);
  verdict.at = days_.at();
  verdict.onset = onset();
  if (!any_closed_) {
    verdict.sentence = sentence();
    return verdict;
  }
  verdict.n = sums_.n;
  verdict.k = sums_.k;
  verdict.measured = share_of(sums_.k, sums_.n);
  const Interval interval = wilson(sums_.k, sums_.n);
  verdict.low = interval.low;
  verdict.high = interval.high;
  if (judged_ && finding_.established) {
    const auto side = static_cast<std::size_t>(finding_.direction);
    const bool falls = finding_.direction == Direction::falls;
    const double times =
        falls ? detector_->params().falls_to.value_or(0) : detector_->rises_to().value_or(0);
    const double worst = finding_.levels[side].worst_share();
    verdict.threshold = finding_.halved ? times * finding_.median : falls ? worst : 1 - worst;
  }
  verdict.sentence = sentence();
  add_facts(verdict);
  return verdict;
}

}  // namespace outcomed
