// What a scores rule says to people.
#include <fmt/core.h>

#include <cmath>

#include "detectors/chance_words.h"
#include "detectors/scores/fold.h"
#include "detectors/sentence.h"

namespace outcomed {
namespace {

std::string mean_text(double mean) {
  return std::abs(mean) < 1000 ? fmt::format("{:.3g}", mean) : fmt::format("{:.0f}", mean);
}

// "3.9 points", with two digits that count.
std::string points(double value) {
  const double size = std::abs(value);
  if (size >= 100) return fmt::format("{:.0f} points", size);
  return size >= 1 ? fmt::format("{:.1f} points", size) : fmt::format("{:.2f} points", size);
}

// Up, down, or neither much: as far as W1 says, of which the shift of the mean is a part.
std::string movement(const ScoreFinding& finding) {
  const double shift = finding.mean - finding.normal_mean;
  if (std::abs(shift) < 0.5 * finding.distance.wasserstein) {
    return fmt::format("the spread of scores changed by {}", points(finding.distance.wasserstein));
  }
  return fmt::format("scores moved {} by {}", shift > 0 ? "up" : "down", points(shift));
}

std::string at_cut(const ScoreFinding& finding, std::int64_t n) {
  return fmt::format("{} of {} ({}) are {} {:g}, usual is {}", finding.at_cut, n,
                     format_share(double(finding.at_cut) / double(n)),
                     finding.above ? "above" : "at least", finding.cut,
                     format_share(finding.normal_share));
}

}  // namespace

// Why the last day that is over was not judged.
std::string ScoresFold::unjudged() const {
  const std::string day = format_day(closed_);
  const std::string& unit = detector_->words().unit;
  if (std::string why = why_unseen(judgement_, day, seen_); !why.empty()) return why;
  if (n_ == 0 && without_score_ > 0) {
    return fmt::format("none of {} {} on {} has a number as its score",
                       format_count(double(without_score_)), unit, day);
  }
  if (n_ == 0) return fmt::format("no {} on {}", unit, day);
  return fmt::format("{} {} on {}, fewer than {}: not judged", format_count(double(n_)), unit, day,
                     detector_->days().min_items);
}

std::string ScoresFold::sentence() const {
  const std::string& unit = detector_->words().unit;
  std::string text = subject(group_) + ": ";
  if (!any_closed_) return text + "no day is over yet.";
  if (!judged_) return text + unjudged() + ".";
  const std::string day = format_day(closed_);
  if (!finding_.established) {
    return text + fmt::format(
                      "{} {} on {} score {} on average; no normal yet: {} of the {} "
                      "days that it takes.",
                      format_count(double(n_)), unit, day, mean_text(finding_.mean), finding_.days,
                      detector_->days().least_days());
  }
  const std::string means = fmt::format("mean of {} {} {}, usual {} over {}",
                                        format_count(double(n_)), unit, mean_text(finding_.mean),
                                        mean_text(finding_.normal_mean), days_text(finding_.days));
  const std::string since = "; since " + format_day(finding_.onset);
  switch (finding_.outcome) {
    case DayEpisode::Outcome::breached: {
      text +=
          fmt::format("{} on {} ({}); {}", movement(finding_), day, means, at_cut(finding_, n_));
      if (finding_.since_days > 1) text += fmt::format(", for {}", days_text(finding_.since_days));
      return text + fmt::format(" - chance alone does this {}{}.",
                                format_once_in(std::exp(finding_.evidence)), since);
    }
    case DayEpisode::Outcome::waning:
      return text + fmt::format(
                        "{} on {} - nearer to normal, but that doesn't yet outweigh {} of "
                        "change{}.",
                        means, day, days_text(finding_.since_days - 1), since);
    case DayEpisode::Outcome::recovered:
      return text + fmt::format("{} on {} - normal again.", means, day);
    case DayEpisode::Outcome::accepted:
      return text + fmt::format("{} on {} - the scores since {} count as normal from now on.",
                                means, day, format_day(finding_.onset));
    case DayEpisode::Outcome::quiet:
      break;
  }
  return text + fmt::format("{} on {}.", means, day);
}

void ScoresFold::add_facts(Verdict& verdict) const {
  const auto fact = [&](std::string name, std::string value) {
    verdict.facts.emplace_back(std::move(name), std::move(value));
  };
  fact("day", fmt::format("{} ({})", format_day(closed_), detector_->days().time_zone));
  fact("n", fmt::format("{}", n_));
  if (without_score_ > 0) {
    fact("without_score",
         fmt::format("{} whose {} is no number", without_score_, detector_->params().score_label));
  }
  if (seen_ < 0.99) fact("seen", format_share(seen_) + " of the day");
  if (!judged_) return;
  fact("mean", mean_text(finding_.mean));
  if (!finding_.established) return;
  const DistributionDistance& distance = finding_.distance;
  fact("normal", fmt::format("mean {}, {} items in {}", mean_text(finding_.normal_mean),
                             format_count(double(finding_.normal_n)), days_text(finding_.days)));
  fact("mean_shift", fmt::format("{:+.3g} points", finding_.mean - finding_.normal_mean));
  fact("wasserstein_1", fmt::format("{:.3g} points", distance.wasserstein));
  fact("kolmogorov_smirnov",
       fmt::format("{:.3f}, at scores up to {:g}", distance.ks, distance.ks_cut));
  fact("energy", fmt::format("{:.3g}", distance.energy));
  fact("psi", fmt::format("{:.3f}; {:.3f} without any drift at these numbers", distance.psi,
                          finding_.psi_without_drift));
  fact("strongest_cut", at_cut(finding_, n_));
  fact("cuts", fmt::format("{}", finding_.cuts));
  fact("evidence", fmt::format("{}; fires at {}", format_once_in(std::exp(finding_.evidence)),
                               format_once_in(detector_->days().budget())));
  add_since(verdict);
}

Verdict ScoresFold::verdict(std::size_t tier) const {
  Verdict verdict;
  verdict.judgement = judgement(tier);
  verdict.at = days_.at();
  verdict.onset = onset();
  verdict.sentence = sentence();
  if (!any_closed_) return verdict;
  verdict.n = n_;
  if (judged_ && finding_.established) {
    verdict.k = finding_.at_cut;
    verdict.measured = double(verdict.k) / double(verdict.n);
    verdict.threshold = finding_.worst_share;
    const Interval interval = wilson(verdict.k, verdict.n);
    verdict.low = interval.low;
    verdict.high = interval.high;
  }
  add_facts(verdict);
  return verdict;
}

}  // namespace outcomed
