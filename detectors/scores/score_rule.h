// What a scores rule remembers of days and how it judges one. No buckets, no words.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "detectors/day_episode.h"
#include "detectors/scores/scores.h"
#include "detectors/stats/distance.h"
#include "detectors/stats/level_watch.h"

namespace outcomed {

// How many items of a day had which score; n > 0.
struct ScoreDay {
  std::int64_t day = 0;
  std::int64_t n = 0;
  std::vector<std::pair<double, std::int64_t>> counts;  // Ascending by score, each above 0.

  [[nodiscard]] std::int64_t at_least(double cut) const;
  [[nodiscard]] double mean() const;
};

// One day as it was judged, for the verdict.
struct ScoreFinding {
  bool established = false;
  std::int64_t days = 0;  // With items, that make the normal at the cut below.
  std::int64_t normal_n = 0;
  double mean = 0;
  double normal_mean = 0;
  DistributionDistance distance;  // From the normal days to this one.
  double psi_without_drift = 0;
  std::int64_t cuts = 0;
  double evidence = 0;  // Log.
  // Where there is most evidence.
  double cut = 0;
  bool above = false;  // Counted are scores above the cut, not at it.
  bool rises = false;
  std::int64_t at_cut = 0;  // Items of the day at or above the cut.
  double normal_share = 0;
  double worst_share = 0;  // Worst normal on the side of the change.
  DayEpisode::Outcome outcome = DayEpisode::Outcome::quiet;
  std::int64_t onset = 0;
  std::int64_t since_days = 0;

  void save(Writer& writer) const;
  bool load(Reader& reader);
};

class ScoreRule {
 public:
  explicit ScoreRule(const ScoresDetector& detector) : detector_(&detector) {}

  // Days in ascending order.
  ScoreFinding judge(ScoreDay today);
  [[nodiscard]] bool fresh() const { return days_.empty(); }

  void save(Writer& writer) const;
  bool load(Reader& reader);

 private:
  // The share of scores >= cut, watched downwards and upwards.
  struct Cut {
    double at = 0;
    std::array<LevelWatch, 2> watches{LevelWatch(LevelWatch::Against::odds),
                                      LevelWatch(LevelWatch::Against::odds)};
    std::array<std::optional<NormalLevel>, 2> levels{};  // Of the last day; not saved.
  };
  [[nodiscard]] std::int64_t frozen(const LevelWatch& watch, std::int64_t today) const;
  [[nodiscard]] bool is_normal(const ScoreDay& day, std::int64_t before) const;
  void choose_cuts(std::int64_t today);
  void learn_levels(std::int64_t today);
  [[nodiscard]] std::vector<double> wanted_cuts(std::int64_t today);
  void weigh(const ScoreDay& today, ScoreFinding& finding);
  void compare(const ScoreDay& today, std::int64_t before, ScoreFinding& finding) const;
  void follow_episode(const ScoreDay& today, const LevelWatch& leading, double alone,
                      ScoreFinding& finding);
  void restart();
  void remember(ScoreDay today);

  const ScoresDetector* detector_;
  std::vector<ScoreDay> days_;  // Their `day` leaves out the days of episodes.
  std::int64_t skipped_ = 0;    // Days of episodes so far.
  std::vector<Cut> cuts_;       // Ascending.
  std::int64_t chosen_on_ = 0;  // Day on which quantiles were chosen as cuts; 0: they are not.
  DayEpisode episode_;
};

}  // namespace outcomed
