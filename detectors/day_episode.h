// An episode of a detector that judges whole days: from the day that alarmed to the day that is
// normal again beyond doubt, or until what it shows has become the normal.
#pragma once

#include <cstdint>

#include "detectors/verdict.h"
#include "queries/base/codec.h"

namespace outcomed {

class DayEpisode {
 public:
  enum class Outcome {
    quiet,     // None, before and after this day.
    breached,  // It began or goes on.
    waning,    // It goes on: no alarm by itself, but the days since its worst don't outweigh it.
    recovered,
    accepted,  // It lasted so long that its level counts as normal from now on.
  };
  struct Day {
    std::int64_t day = 0;
    bool alarm = false;
    double evidence = 0;      // Log, all days so far.
    double alone = 0;         // Log, of this day.
    std::int64_t onset = 0;   // Where an episode that begins now began.
    std::int64_t frozen = 0;  // The normal was taken from the days before this one.
  };

  // `accept_days`: after that many days since the alarm.
  Outcome take(const Day& day, std::int64_t accept_days);
  void end() { *this = {}; }

  [[nodiscard]] bool on() const { return on_; }
  [[nodiscard]] std::int64_t onset() const { return onset_; }
  [[nodiscard]] std::int64_t frozen() const { return frozen_; }
  [[nodiscard]] std::int64_t alarmed() const { return alarmed_; }

  void save(Writer& writer) const;
  bool load(Reader& reader);

 private:
  bool on_ = false;
  std::int64_t alarmed_ = 0;  // Day of the alarm.
  std::int64_t onset_ = 0;
  std::int64_t frozen_ = 0;
  double peak_ = 0;  // Highest evidence of the episode.
};

// What a day's outcome is to the alert; without an established normal a quiet day says nothing.
Judgement judgement_of(DayEpisode::Outcome outcome, bool established);

}  // namespace outcomed
