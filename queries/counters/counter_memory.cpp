#include <algorithm>
#include <cmath>

#include "queries/counters/counter_reader_impl.h"

namespace outcomed {

void CounterReader::Impl::save(Writer& writer, bool with_series) const {
  writer.u64(1);  // Version of this form.
  writer.i64(watch_start_);
  writer.u64(targets_.size());
  for (const Target& target : targets_) target.save(writer);
  writer.u64(tallies_.size());
  for (const Tally& tally : tallies_) tally.save(writer);
  writer.u64(calibrations_.size());
  for (const auto& calibration : calibrations_) calibration->save(writer);
  std::uint64_t counters = 0;
  for (const CounterSeries& series : series_)
    counters += with_series && series.kind == SeriesKind::counter;
  writer.u64(counters);
  for (const CounterSeries& series : series_) {
    if (!with_series || series.kind != SeriesKind::counter) continue;
    writer.u64(series.identity);
    writer.i64(series.memory.last_at);
    writer.u64(series.memory.stands.size());
    for (const Stand& stand : series.memory.stands) {
      writer.u64(stand.process);
      writer.i64(stand.at);
      writer.f64(stand.value);
    }
  }
}

bool CounterReader::Impl::load(Reader& reader) {
  if (reader.u64() != 1) return false;
  watch_start_ = reader.i64();
  for (std::uint64_t left = reader.u64(); left > 0 && reader.ok(); --left) {
    Target target("", "");
    if (!target.load(reader)) return false;
    target_ids_[target.name()] = static_cast<std::uint32_t>(targets_.size());
    targets_.push_back(std::move(target));
  }
  if (reader.u64() != tallies_.size()) return false;
  for (Tally& tally : tallies_) {
    if (!tally.load(reader)) return false;
  }
  if (reader.u64() != calibrations_.size()) return false;
  for (const auto& calibration : calibrations_) {
    if (!calibration->load(reader)) return false;
  }
  for (std::uint64_t left = reader.u64(); left > 0 && reader.ok(); --left) {
    SeriesMemory& memory = restored_[reader.u64()];
    memory.last_at = reader.i64();
    for (std::uint64_t stands = reader.u64(); stands > 0 && reader.ok(); --stands) {
      Stand stand;
      stand.process = static_cast<std::uint32_t>(reader.u64());
      stand.at = reader.i64();
      stand.value = reader.f64();
      memory.stands.push_back(stand);
    }
  }
  choose_selectors();
  return reader.ok();
}

}  // namespace outcomed
