#include "detectors/day_settings.h"

#include <fmt/core.h>

#include <algorithm>

namespace outcomed {
namespace {

constexpr std::int64_t kFewestAcceptDays = 7;
constexpr std::int64_t kMostAcceptDays = 180;

std::int64_t whole_days(Duration span) {
  return (span + DaySettings::kDay - Duration(1)) / DaySettings::kDay;
}

void check_zone(ParamVisitor& visitor, const DaySettings& settings, const SignalWords& words) {
  // Without a signal (schema, reference) there is nothing to check against.
  if (settings.time_zone == "UTC" || words.step <= Duration::zero()) return;
  if (words.zones == nullptr) {
    visitor.problem("time_zone", "there are no time zones here but UTC");
  } else if (words.zones->find(settings.time_zone) == nullptr) {
    visitor.problem("time_zone", fmt::format("there is no time zone \"{}\"", settings.time_zone),
                    "write an IANA name, such as Europe/Moscow");
  }
}

}  // namespace

void DaySettings::visit(ParamVisitor& visitor, const SignalWords& words) {
  visitor.count("baseline_days", baseline_days, {4, 60},
                "Days whose median is the usual; half of them must have items. Normal levels come "
                "from twice as many.");
  visitor.count("min_items", min_items, {1, 1e15},
                "A day with fewer is neither judged nor normal.");
  visitor.text("time_zone", time_zone, "Whose days, by its IANA name.");
  visitor.duration("false_page_every", false_page_every,
                   "Mean time between false alarms by evidence, for each group.");
  visitor.duration("accept_after", accept_after,
                   "After so long what an alert shows counts as the new normal, and it ends.");
  visitor.duration("for", hold, "Breached this long before it fires.");
  visitor.text("severity", severity, "Severity of the alert: page, ticket or a word of yours.");
  check_zone(visitor, *this, words);
  if (false_page_every < 30 * kDay) {
    visitor.problem("false_page_every", "is shorter than 30d",
                    "a rule that judges days needs more");
  }
  if (accept_after < kFewestAcceptDays * kDay || whole_days(accept_after) > kMostAcceptDays) {
    visitor.problem("accept_after",
                    fmt::format("lies outside {}d to {}d", kFewestAcceptDays, kMostAcceptDays));
  }
  if (words.step > kDay) {
    visitor.problem(
        "signal", fmt::format("its step of {} is longer than a day", format_duration(words.step)));
  }
}

void DaySettings::make_safe() {
  baseline_days = std::clamp<std::int64_t>(baseline_days, 4, 60);
  min_items = std::max<std::int64_t>(min_items, 1);
}

std::shared_ptr<const TimeZone> DaySettings::zone(const SignalWords& words) const {
  if (words.zones == nullptr || time_zone == "UTC") return nullptr;
  return words.zones->find(time_zone);
}

double DaySettings::budget() const {
  return std::max(
      2.0, static_cast<double>(false_page_every.count()) / static_cast<double>(kDay.count()));
}

std::int64_t DaySettings::accept_days() const {
  return std::clamp(whole_days(accept_after), kFewestAcceptDays, kMostAcceptDays);
}

std::int64_t DaySettings::least_days() const {
  return std::max<std::int64_t>(3, baseline_days / 2);
}

std::int64_t DaySettings::kept_days() const {
  return normal_days() + std::max(frozen_days(), accept_days() + 1);
}

}  // namespace outcomed
