// Whether two sources that answer the same question agree: one alert of our own for each pair of
// signals, `sources_differ`. A gateway's metrics and the rows of its database count the same
// requests, so one of them that stands still, or counts twice, is told by the other.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "alerts/lifecycle.h"
#include "daemon/engine/rule_runner.h"

namespace outcomed {

inline constexpr std::string_view kSourcesDiffer = "sources_differ";

// One of the two: the signal that is judged (metrics), and the one it is compared with (rows).
struct PairSide {
  std::string source;
  std::string signal;
};
enum class PairMember : std::uint8_t { metrics, rows };

// Pure. Compares n of whole hours of which both sides had every step; of other hours it says
// nothing, so that missing data neither fires nor resolves.
class PairWatch {
 public:
  static constexpr Duration kHour = std::chrono::hours(1);
  // Fewer of the larger number in an hour are no evidence.
  static constexpr std::int64_t kFewest = 20;
  // The known fault doubles (the gateway before 1.81.14 counts what failed twice). What differs
  // without a fault, rows that are late and requests in flight, is far below.
  static constexpr double kMostRatio = 1.5;
  // What one side may be ahead of the other; older hours are forgotten.
  static constexpr std::size_t kMostHours = 48;

  PairWatch(PairSide metrics, PairSide rows);

  // Whole steps must make up an hour.
  static bool comparable(const SignalPlan& metrics, const SignalPlan& rows);

  // Hours that begin before this are not judged.
  void judge_from(Timestamp from) { judge_from_ = from; }
  void restore(const AlertState& state) { state_ = state; }
  // What a side counted in one step. Steps of a side come in order of time; older ones are ignored.
  void add(PairMember side, Timestamp start, Duration step, std::int64_t n, bool complete);
  // Judges the hours that both sides have passed, each at its own end.
  std::vector<RuleEvent> judge();
  [[nodiscard]] const AlertState& state() const { return state_; }

 private:
  struct HourSum {
    Duration complete{};  // Of the hour: steps with all data.
    std::int64_t n = 0;
    // Without the first and last minute: what one side sees at an edge of the hour may lie in the
    // neighbouring hour of the other, and a burst there is no fault.
    std::int64_t inner = 0;
  };
  struct Side {
    PairSide name;
    std::map<Timestamp, HourSum> hours;  // By their begin.
    Timestamp watermark;
  };

  void judge_hour(Timestamp hour, std::vector<RuleEvent>& events);
  [[nodiscard]] std::string sentence(const HourSum& metrics, const HourSum& rows, Timestamp end,
                                     bool differ) const;

  std::array<Side, 2> sides_;
  Timestamp judge_from_;
  AlertState state_;
};

}  // namespace outcomed
