#include "detectors/day_episode.h"

#include <algorithm>
#include <cmath>

namespace outcomed {

DayEpisode::Outcome DayEpisode::take(const Day& day, std::int64_t accept_days) {
  // One lucky day of few items must not end an episode: the days since its worst must outweigh it.
  static const double kOutweighed = std::log(20.0);
  if (!on_) {
    if (!day.alarm) return Outcome::quiet;
    *this = {};
    on_ = true;
    alarmed_ = day.day;
    onset_ = day.onset;
    frozen_ = day.frozen;
    peak_ = day.evidence;
    return Outcome::breached;
  }
  const double enough = std::max(0.0, peak_ - kOutweighed);
  if (day.alone <= 0 && day.evidence <= enough) return Outcome::recovered;
  if (day.day - alarmed_ >= accept_days) return Outcome::accepted;
  peak_ = std::max(peak_, day.evidence);
  return day.alarm ? Outcome::breached : Outcome::waning;
}

void DayEpisode::save(Writer& writer) const {
  writer.u64(on_ ? 1 : 0);
  writer.i64(alarmed_);
  writer.i64(onset_);
  writer.i64(frozen_);
  writer.f64(peak_);
}

bool DayEpisode::load(Reader& reader) {
  on_ = reader.u64() != 0;
  alarmed_ = reader.i64();
  onset_ = reader.i64();
  frozen_ = reader.i64();
  peak_ = reader.f64();
  return reader.ok();
}

Judgement judgement_of(DayEpisode::Outcome outcome, bool established) {
  switch (outcome) {
    case DayEpisode::Outcome::breached:
      return Judgement::breached;
    case DayEpisode::Outcome::waning:
      return Judgement::lingering;
    case DayEpisode::Outcome::recovered:
    case DayEpisode::Outcome::accepted:
      return Judgement::healthy;
    case DayEpisode::Outcome::quiet:
      break;
  }
  return established ? Judgement::healthy : Judgement::too_few;
}

}  // namespace outcomed
