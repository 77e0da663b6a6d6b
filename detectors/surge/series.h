// The surge detector of one series: two sequential detectors averaged, tempered, with the series'
// learned normal. Memory: about 5 kB of state, and tables made from it.
#pragma once

#include <array>
#include <cstdint>

#include "detectors/stats/tilt.h"
#include "detectors/surge/hour.h"
#include "detectors/surge/normal.h"
#include "detectors/surge/rate_filter.h"
#include "detectors/surge/settings.h"
#include "detectors/surge/tempering.h"
#include "queries/bucket.h"

namespace outcomed {

class SurgeSeries {
 public:
  // `settings` outlives the series.
  explicit SurgeSeries(const SurgeSettings& settings);

  // One bucket of settings.step. Counts that can't be (negative) make the step an unknown one; k
  // above n means that n was counted short: n becomes k. Alarms when the evidence reaches
  // `share_of_budget` times what the budget asks for.
  void push(Timestamp start, std::int64_t n, std::int64_t k, Coverage coverage,
            double share_of_budget = 1);

  // From the alarm until the share of the last quarter of an hour is no longer above the line.
  [[nodiscard]] bool latched() const { return latched_; }
  // Latched, and there is traffic that shows it.
  [[nodiscard]] bool failing() const { return latched_ && recent().n > 0; }
  // By the group that the series belongs to, on evidence that several series have together.
  void latch();

  // The mean of the two sums, in steps: "chance alone does this once in so many steps".
  [[nodiscard]] double evidence() const;
  // What evidence() must reach: the budget in steps.
  [[nodiscard]] double budget_steps() const { return budget_; }
  [[nodiscard]] Duration step() const;

  struct Since {
    Timestamp start;
    std::int64_t n = 0;
    std::int64_t k = 0;
    std::uint32_t bad_steps = 0;
    [[nodiscard]] double share() const { return n > 0 ? double(k) / double(n) : 0; }
  };
  // Of the change there is evidence for; while latched of the one that made the alarm.
  [[nodiscard]] Since since() const;
  [[nodiscard]] HourOfSteps::Sums hour() const { return hour_.all(); }
  // The counts that decide on the end of an alarm: of the last quarter of an hour (or three steps
  // of the detector), but none from before the change: a good hour must not hide that traffic broke
  // down to a few requests that all fail.
  [[nodiscard]] HourOfSteps::Sums recent() const;
  // The share that ends the alarm.
  [[nodiscard]] double line() const { return latched_ ? line_ : normal_.ceiling; }
  // More than 10 % of the last hour, for more than 15 minutes.
  [[nodiscard]] bool classic() const { return classic_steps_ * settings_->step > kClassicFor; }
  [[nodiscard]] Duration classic_since() const { return classic_steps_ * settings_->step; }
  static constexpr Duration kClassicFor = std::chrono::minutes(15);
  static constexpr double kClassicLine = 0.1;
  [[nodiscard]] const SurgeNormal& normal() const { return normal_; }
  // The weight of the evidence; in full against the prior, which is wide enough.
  [[nodiscard]] double gamma_static() const { return normal_.known ? tempering_.of_static() : 1; }
  [[nodiscard]] double gamma_filter() const { return tempering_.of_filter(); }
  [[nodiscard]] const Tempering& tempering() const { return tempering_; }
  // The lowest share that steady evidence would bring to an alarm within an hour; 1: none.
  [[nodiscard]] double visible_in_an_hour() const;
  // No request is remembered.
  [[nodiscard]] bool empty() const;

  void save(Writer& writer) const;
  bool load(Reader& reader);

 private:
  // CUSUM of one lane: where it began to rise, and the counts before that.
  struct Track {
    std::int64_t start_ms = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    std::uint32_t ups = 0;  // Steps that added evidence.
  };

  void close_step(double share_of_budget);
  void judge(double n, double k, double share_of_budget);
  void weigh(double n, double k);
  void accumulate();
  void track();
  void doubt(double n, double k);
  void note_bad_step();
  void try_unlatch();
  void rearm();
  void relearn(std::int64_t now_ms);
  [[nodiscard]] SurgeNormal settled(SurgeNormal normal) const;
  void use(const SurgeNormal& normal);
  void set_filter();
  void set_caps();
  [[nodiscard]] int best_track() const;
  [[nodiscard]] bool alarming(double share_of_budget) const;

  const SurgeSettings* settings_;
  HourOfSteps hour_;
  NormalHours hours_;
  SurgeNormal normal_;
  Tempering tempering_;
  TiltTable tilts_;
  RateFilter filter_;
  double budget_ = 1;
  std::size_t recent_steps_ = 1;
  std::int64_t learned_day_ = -1;

  // The open step of the detector: some buckets where requests are rare.
  std::int64_t open_start_ms_ = -1;
  std::int64_t open_number_ = -1;
  std::int64_t open_n_ = 0;
  std::int64_t open_k_ = 0;
  bool open_seen_ = false;

  SurgeLanes x_ = SurgeLanes::Constant(kNoLane);  // Of the last step; no state.
  SurgeLanes cap_ = SurgeLanes::Zero();           // Of the budget; no state.
  SurgeLanes sums_ = SurgeLanes::Zero();
  SurgeLanes cusum_ = SurgeLanes::Zero();
  std::array<Track, kSurgeLanes> tracks_{};
  std::int64_t all_n_ = 0;  // Since the start of the series.
  std::int64_t all_k_ = 0;
  std::int64_t last_start_ms_ = 0;  // Of the newest step that was judged.
  std::int64_t end_ms_ = 0;         // Of the newest bucket.
  double excess_ = 0;               // CUSUM of failures above the ceiling.
  bool doubtful_ = false;           // What happens now may be an incident: it isn't learned yet.
  std::int64_t classic_steps_ = 0;

  bool latched_ = false;
  double line_ = 0;
  Since alarm_;
  std::int64_t alarm_n_ = 0;  // all_n_, all_k_ when the change of the alarm began.
  std::int64_t alarm_k_ = 0;
  std::int64_t last_bad_ms_ = 0;  // The last step beyond the line, and the counts up to it.
  std::int64_t bad_n_ = 0;
  std::int64_t bad_k_ = 0;
};

}  // namespace outcomed
