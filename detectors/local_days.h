// Buckets of any length gathered into days of a time zone, for detectors that judge whole days.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "detectors/verdict.h"
#include "queries/base/codec.h"
#include "queries/base/time_zone.h"
#include "queries/bucket.h"

namespace outcomed {

// A bucket belongs to the day in which its middle lies, so that buckets that aren't a divisor of
// the day (and daily ones of another zone) belong to exactly one. Days have 23 to 25 hours where
// clocks change. Buckets come in time order; what isn't newer than the last one is refused.
class LocalDays {
 public:
  // Less of a day seen than this says nothing about the day.
  static constexpr double kLeastSeen = 0.5;

  // A null zone is UTC.
  explicit LocalDays(std::shared_ptr<const TimeZone> zone) : zone_(std::move(zone)) {}

  // Before the counts of a bucket are added to the open day: true when the open day ended without
  // this bucket, and must be closed first.
  [[nodiscard]] bool begins_another(const Bucket& bucket) const {
    return open_ && middle(bucket) >= end_;
  }
  // False: the bucket is old, or empty of time, or lies in a day that is closed: to be ignored.
  [[nodiscard]] bool accepts(const Bucket& bucket) const {
    if (bucket.length <= Duration::zero()) return false;
    return !at_ || (bucket.end() > *at_ && (open_ || middle(bucket) >= end_));
  }
  // Takes the bucket into its day. True: it is the last one of that day, as far as buckets of this
  // length tell.
  bool take(const Bucket& bucket, bool sane);
  // The open day is over; the next bucket opens another.
  void close() { open_ = false; }

  [[nodiscard]] bool is_open() const { return open_; }
  [[nodiscard]] std::int64_t day() const { return day_; }
  [[nodiscard]] Timestamp at() const { return at_.value_or(Timestamp{}); }
  // Share of the day that lies in buckets with counts; at most 1.
  [[nodiscard]] double seen() const;
  // Why there is no judgement of the day, where so little was seen of it.
  [[nodiscard]] std::optional<Judgement> unseen() const;

  [[nodiscard]] Timestamp begin_of(std::int64_t day) const {
    return begin_of_day(zone_.get(), day);
  }
  void save(Writer& writer) const;
  bool load(Reader& reader);

 private:
  static Timestamp middle(const Bucket& bucket) { return bucket.start + bucket.length / 2; }
  void open(std::int64_t day);

  std::shared_ptr<const TimeZone> zone_;
  bool open_ = false;
  std::int64_t day_ = 0;             // Of the open day, or of the one closed last.
  Timestamp begin_, end_;            // Of that day.
  std::optional<Timestamp> at_;      // End of the newest bucket.
  std::array<Duration, 4> spans_{};  // Of the day, by coverage.
};

// "2026-11-30"
std::string format_day(std::int64_t day);

}  // namespace outcomed
