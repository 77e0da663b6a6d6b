// When a provider's peak price is in force: hours of weekdays in the provider's time zone.
#pragma once

#include <bitset>
#include <memory>
#include <string>
#include <string_view>

#include "queries/base/result.h"
#include "queries/base/time_zone.h"

namespace outcomed {

// Minutes of a local week, Monday 00:00 first.
class WeeklyHours {
 public:
  static constexpr std::size_t kMinutes = 7 * 24 * 60;

  // "mon-fri 00:30-16:30", "sat,sun 10:00-02:00", "08:00-20:00" (every day). The begin is in, the
  // end is not; an end before the begin lies on the next day, 24:00 is the day's end. Spans add up.
  // The error says what is wrong and what to write.
  Status add(std::string_view span);
  [[nodiscard]] bool holds(std::size_t minute_of_week) const { return peak_[minute_of_week]; }
  [[nodiscard]] std::size_t minutes() const { return peak_.count(); }

 private:
  std::bitset<kMinutes> peak_;
};

struct PriceCalendar {
  std::shared_ptr<const TimeZone> zone;  // Null: UTC.
  WeeklyHours peak;

  // By the local time of the instant: where clocks are put back, the repeated hour is what its
  // clock says, both times.
  [[nodiscard]] bool is_peak(Timestamp at) const;
};

}  // namespace outcomed
