#include "detectors/local_days.h"

#include <algorithm>

namespace outcomed {

void LocalDays::open(std::int64_t day) {
  open_ = true;
  day_ = day;
  begin_ = begin_of(day);
  end_ = begin_of(day + 1);
  spans_ = {};
}

bool LocalDays::take(const Bucket& bucket, bool sane) {
  at_ = bucket.end();
  if (!open_) open(local_day(zone_.get(), middle(bucket)));
  const Coverage coverage =
      sane || bucket.coverage != Coverage::complete ? bucket.coverage : Coverage::failed;
  spans_[static_cast<std::size_t>(coverage)] += bucket.length;
  return bucket.end() + bucket.length / 2 >= end_;  // The next one's middle lies beyond.
}

double LocalDays::seen() const {
  const auto whole = static_cast<double>((end_ - begin_).count());
  if (whole <= 0) return 0;
  return std::min(1.0, static_cast<double>(spans_[0].count()) / whole);
}

std::optional<Judgement> LocalDays::unseen() const {
  if (seen() >= kLeastSeen) return std::nullopt;
  const Duration missing = spans_[static_cast<std::size_t>(Coverage::missing)];
  const Duration partial = spans_[static_cast<std::size_t>(Coverage::partial)];
  const Duration failed = spans_[static_cast<std::size_t>(Coverage::failed)];
  if (failed > missing && failed > partial) return Judgement::failed;
  if (spans_[0] > Duration::zero() || partial > missing) return Judgement::partial;
  return Judgement::no_data;
}

void LocalDays::save(Writer& writer) const {
  writer.u64(open_ ? 1 : 0);
  writer.i64(day_);
  writer.u64(at_ ? 1 : 0);
  if (at_) writer.i64(unix_ms(*at_));
  for (const Duration span : spans_) writer.i64(span.count());
}

bool LocalDays::load(Reader& reader) {
  const bool was_open = reader.u64() != 0;
  day_ = reader.i64();
  at_.reset();
  if (reader.u64() != 0) at_ = from_unix_ms(reader.i64());
  if (!reader.ok() || std::abs(day_) > 100'000'000) return false;
  const std::int64_t day = day_;
  if (at_) open(day);
  open_ = was_open && at_;
  for (Duration& span : spans_) span = Duration(reader.i64());
  return reader.ok();
}

std::string format_day(std::int64_t day) {
  return format_rfc3339(Timestamp(std::chrono::hours(24) * day)).substr(0, 10);
}

}  // namespace outcomed
