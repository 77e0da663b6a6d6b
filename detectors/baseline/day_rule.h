// What a baseline rule remembers of days and how it judges one. No buckets, no words.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "detectors/baseline/baseline.h"
#include "detectors/day_episode.h"
#include "detectors/stats/level_watch.h"

namespace outcomed {

enum class Direction : std::uint8_t { falls, rises };

// One day as it was judged, for the verdict.
struct DayFinding {
  bool established = false;  // There is a normal.
  std::int64_t days = 0;     // Of the baseline that had items.
  double median = 0;
  std::array<NormalLevel, 2> levels;       // By direction; of rises, that of what is left over.
  std::array<bool, 2> beyond{};            // Past falls_to or rises_to of the median.
  std::array<double, 2> chance{1, 1};      // Of a day like this or worse; only where beyond.
  bool halved = false;                     // Beyond, and not by chance.
  bool evident = false;                    // The evidence reached the budget.
  double evidence = 0;                     // Log.
  Direction direction = Direction::falls;  // In which there is more evidence.
  DayEpisode::Outcome outcome = DayEpisode::Outcome::quiet;
  std::int64_t onset = 0;       // Of the episode that is on, or of the evidence that runs.
  std::int64_t since_days = 0;  // Days with items since then, this one included, and their sums.
  std::int64_t since_n = 0;
  std::int64_t since_k = 0;

  void save(Writer& writer) const;
  bool load(Reader& reader);
};

class DayRule {
 public:
  explicit DayRule(const BaselineDetector& detector);

  // `member`: which of several baselines the day belongs to. Another than the day before starts
  // anew: evidence and episode end. Days in ascending order.
  DayFinding judge(const DayCount& today, std::uint32_t member);
  [[nodiscard]] bool in_episode() const { return episode_.on(); }
  [[nodiscard]] bool fresh() const { return days_.empty(); }

  void save(Writer& writer) const;
  bool load(Reader& reader);

 private:
  // `day` leaves out the days of episodes, so that a window of days is one of normal days.
  struct Past {
    DayCount count;
    std::uint32_t member = 0;
  };
  [[nodiscard]] std::int64_t frozen(const LevelWatch& watch, std::int64_t today) const;
  void select(std::int64_t before, std::int64_t days, Direction direction);
  double median();
  void weigh(const DayCount& today, DayFinding& finding);
  void measure_since(const DayCount& today, DayFinding& finding) const;
  void follow_episode(const DayCount& today, DayFinding& finding);
  void restart();
  void remember(const DayCount& today);

  const BaselineDetector* detector_;
  std::vector<Past> days_;
  std::int64_t skipped_ = 0;  // Days of episodes so far.
  std::uint32_t member_ = 0;
  std::array<LevelWatch, 2> watches_;
  DayEpisode episode_;
  Direction direction_ = Direction::falls;  // Of the episode.
  std::vector<DayCount> chosen_;            // Scratch.
  std::vector<double> shares_;              // Scratch.
};

}  // namespace outcomed
