// What a series saves and how it begins again from that, to the bit.
#include "detectors/surge/series.h"

namespace outcomed {

void SurgeSeries::save(Writer& writer) const {
  hour_.save(writer);
  hours_.save(writer);
  normal_.save(writer);
  tempering_.save(writer);
  filter_.save(writer);
  for (const std::int64_t each : {learned_day_, open_start_ms_, open_number_, open_n_, open_k_,
                                  all_n_, all_k_, last_start_ms_, end_ms_, classic_steps_}) {
    writer.i64(each);
  }
  writer.u64((open_seen_ ? 1U : 0U) | (latched_ ? 2U : 0U) | (doubtful_ ? 4U : 0U));
  writer.f64(excess_);
  for (int j = 0; j < kSurgeLanes; ++j) {
    const Track& lane = tracks_[static_cast<std::size_t>(j)];
    writer.f64(sums_(j));
    writer.f64(cusum_(j));
    if (cusum_(j) <= 0) continue;  // Begins anew when it rises.
    writer.i64(last_start_ms_ - lane.start_ms);
    writer.i64(all_n_ - lane.n);
    writer.i64(all_k_ - lane.k);
    writer.u64(lane.ups);
  }
  if (!latched_) return;
  writer.f64(line_);
  for (const std::int64_t each : {unix_ms(alarm_.start), std::int64_t{alarm_.bad_steps}, alarm_n_,
                                  alarm_k_, last_bad_ms_, bad_n_, bad_k_}) {
    writer.i64(each);
  }
}

bool SurgeSeries::load(Reader& reader) {
  if (!hour_.load(reader) || !hours_.load(reader)) return false;
  SurgeNormal normal;
  normal.load(reader);
  if (!reader.ok() || !(normal.ceiling > 0 && normal.ceiling < 1) || normal.merged_steps < 1 ||
      normal.merged_blocks < 1) {
    return false;
  }
  use(normal);
  if (!tempering_.load(reader)) return false;
  filter_.load(reader);
  for (std::int64_t* each : {&learned_day_, &open_start_ms_, &open_number_, &open_n_, &open_k_,
                             &all_n_, &all_k_, &last_start_ms_, &end_ms_, &classic_steps_}) {
    *each = reader.i64();
  }
  const std::uint64_t flags = reader.u64();
  open_seen_ = (flags & 1U) != 0;
  latched_ = (flags & 2U) != 0;
  doubtful_ = (flags & 4U) != 0;
  excess_ = reader.f64();
  for (int j = 0; j < kSurgeLanes; ++j) {
    Track& lane = tracks_[static_cast<std::size_t>(j)];
    sums_(j) = reader.f64();
    cusum_(j) = reader.f64();
    if (cusum_(j) <= 0) continue;
    lane.start_ms = last_start_ms_ - reader.i64();
    lane.n = all_n_ - reader.i64();
    lane.k = all_k_ - reader.i64();
    lane.ups = static_cast<std::uint32_t>(reader.u64());
  }
  if (!latched_) return reader.ok();
  line_ = reader.f64();
  alarm_.start = from_unix_ms(reader.i64());
  alarm_.bad_steps = static_cast<std::uint32_t>(reader.i64());
  for (std::int64_t* each : {&alarm_n_, &alarm_k_, &last_bad_ms_, &bad_n_, &bad_k_})
    *each = reader.i64();
  return reader.ok();
}

}  // namespace outcomed
