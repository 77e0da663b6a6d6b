// Settings that all detectors share that judge a day against the days before it.
#pragma once

#include <memory>
#include <string>

#include "detectors/detector.h"

namespace outcomed {

struct DaySettings {
  static constexpr Duration kDay = std::chrono::hours(24);

  std::int64_t baseline_days = 14;
  std::int64_t min_items = 1;
  std::string time_zone = "UTC";
  Duration false_page_every = 730 * kDay;
  Duration accept_after = 28 * kDay;
  Duration hold{};
  std::string severity = "page";

  void visit(ParamVisitor& visitor, const SignalWords& words);
  // What visit() complained about must not do harm where a detector is made all the same.
  void make_safe();

  // Null: UTC.
  [[nodiscard]] std::shared_ptr<const TimeZone> zone(const SignalWords& words) const;
  [[nodiscard]] double budget() const;  // false_page_every in days; at least 2.
  [[nodiscard]] std::int64_t accept_days() const;
  // Days with items, of the last baseline_days, without which there is no normal.
  [[nodiscard]] std::int64_t least_days() const;
  // Normal levels come from so many days.
  [[nodiscard]] std::int64_t normal_days() const { return 2 * baseline_days; }
  // Evidence that never came to an alarm keeps the normal where it was for so long.
  [[nodiscard]] std::int64_t frozen_days() const { return 3 * baseline_days; }
  // Days that are remembered before the one at which the normal is frozen or judged.
  [[nodiscard]] std::int64_t kept_days() const;
};

}  // namespace outcomed
