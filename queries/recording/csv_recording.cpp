#include "queries/recording/csv_recording.h"

#include <algorithm>
#include <utility>

#include "queries/recording/file_pieces.h"

namespace outcomed {
namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

CsvRecording::CsvRecording(std::string path, std::vector<SignalPlan> plans)
    : path_(std::move(path)), plans_(std::move(plans)) {
  buckets_.signals.resize(plans_.size());
}

const std::vector<Labels>& CsvRecording::cells(std::size_t signal) const {
  return buckets_.signals[signal].cells;
}

Status CsvRecording::open() {
  if (!opened_) opened_ = read();
  return *opened_;
}

Status CsvRecording::read() {
  std::string text;
  Status status = read_pieces(path_, [&](std::string_view piece) -> Status {
    if (text.size() + piece.size() > kMaxBytes) {
      return Error{ErrorKind::too_large, "larger than 2 GiB: cut it into shorter spans of time"};
    }
    text += piece;
    return ok();
  });
  if (!status) return std::move(status).error().while_doing(path_);
  auto rows = read_bucket_rows(path_, text, plans_);
  if (!rows) return std::move(rows).error();
  buckets_ = *std::move(rows);
  return ok();
}

Result<std::optional<TimeRange>> CsvRecording::span() {
  if (Status status = open(); !status) return std::move(status).error();
  std::optional<TimeRange> all;
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    const std::vector<CellCount>& rows = buckets_.signals[i].rows;
    if (rows.empty()) continue;
    const std::int64_t step = plans_[i].step.count();
    const TimeRange own{from_unix_ms(rows.front().step * step),
                        from_unix_ms((rows.back().step + 1) * step)};
    if (!all) all = own;
    all = TimeRange{std::min(all->begin, own.begin), std::max(all->end, own.end)};
  }
  return all;
}

SignalBatch CsvRecording::batch(std::size_t signal, TimeRange range) const {
  const SignalRows& source = buckets_.signals[signal];
  const std::int64_t step = plans_[signal].step.count();
  // Signals of other steps may share the range: each gets the whole steps of its own within it.
  const std::int64_t first = -floor_div(-unix_ms(range.begin), step);
  const std::int64_t last = std::max(first, floor_div(unix_ms(range.end), step));
  const auto steps = static_cast<std::size_t>(last - first);
  SignalBatch batch;
  batch.range = {from_unix_ms(first * step), from_unix_ms(last * step)};
  batch.step = plans_[signal].step;
  batch.coverage.assign(steps, Coverage::missing);
  batch.n.assign(source.cells.size() * steps, 0);
  batch.k.assign(source.cells.size() * steps, 0);
  auto row = std::ranges::lower_bound(source.rows, first, {}, &CellCount::step);
  for (; row != source.rows.end() && row->step < last; ++row) {
    const auto at = static_cast<std::size_t>(row->step - first);
    batch.coverage[at] = Coverage::complete;
    batch.n[row->cell * steps + at] += row->n;
    batch.k[row->cell * steps + at] += row->k;
  }
  return batch;
}

Result<Fetch> CsvRecording::fetch(TimeRange range) {
  if (Status status = open(); !status) return std::move(status).error();
  Fetch fetched;
  for (std::size_t i = 0; i < plans_.size(); ++i) fetched.batches.push_back(batch(i, range));
  fetched.problems = std::exchange(buckets_.problems, {});
  fetched.facts = buckets_.facts;
  return fetched;
}

}  // namespace outcomed
