#include "queries/recording/openmetrics_recording.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "queries/exposition/page.h"
#include "queries/exposition/text_format.h"
#include "queries/recording/file_pieces.h"

namespace outcomed {

OpenMetricsRecording::OpenMetricsRecording(std::string path, std::vector<SignalPlan> plans)
    : path_(std::move(path)), counters_(std::move(plans)) {}

void OpenMetricsRecording::seed_cells(std::size_t signal, const std::vector<Labels>& cells) {
  counters_.seed_cells(signal, cells);
}

const std::vector<Labels>& OpenMetricsRecording::cells(std::size_t signal) const {
  return counters_.cells(signal);
}

void OpenMetricsRecording::save(Writer& writer) const { counters_.save(writer, true); }

bool OpenMetricsRecording::load(Reader& reader) { return counters_.load(reader); }

Status OpenMetricsRecording::open() {
  if (!opened_) {
    opened_ = read();
    if (!*opened_) {
      opened_ = std::move(opened_->error()).while_doing(path_);
      columns_ = {};
    }
  }
  return *opened_;
}

Status OpenMetricsRecording::read() {
  const WantedNames names(counters_.selectors());
  std::unordered_map<SeriesId, std::size_t> places;
  std::string scratch;
  std::string last_key;  // Mostly the lines of one series follow each other.
  std::size_t place = 0;
  std::size_t kept = 0;
  TextParser parser(
      TextFormat::openmetrics,
      [&](std::string_view name) { return names.contains(name) || name == kUpMetric; },
      [&](const TextSample& sample) -> Status {
        if (!sample.at_ms) {
          return Error{ErrorKind::invalid, "has no timestamp; a recording needs one on each line"};
        }
        const std::string_view key = sample.key(scratch);
        if (columns_.empty() || key != last_key) {
          last_key = key;
          const SeriesId id = counters_.open(key, [&] { return sample.labels(); });
          const auto [found, fresh] = places.try_emplace(id, columns_.size());
          if (fresh) {
            columns_.push_back({id, {}, {}, {}});
            kept += 2 * key.size();
          }
          place = found->second;
        }
        SampleColumn& samples = columns_[place].samples;
        const std::size_t before = samples.bytes();
        samples.add({*sample.at_ms, sample.value});
        kept += samples.bytes() - before;
        if (kept > kMaxKeptBytes) {
          return Error{ErrorKind::too_large,
                       "more than 2 GiB of counters: cut the recording into shorter spans of time"};
        }
        return ok();
      });
  Status status = read_pieces(path_, [&](std::string_view piece) { return parser.feed(piece); });
  if (status) status = parser.finish();
  if (!status) return status;
  if (columns_.empty()) {
    return Error{ErrorKind::invalid,
                 fmt::format("none of its {} lines belongs to a counter that the signals read",
                             parser.lines())};
  }
  tidy();
  return ok();
}

void OpenMetricsRecording::tidy() {
  std::size_t unsorted = 0;
  first_ms_ = std::numeric_limits<std::int64_t>::max();
  last_ms_ = std::numeric_limits<std::int64_t>::min();
  for (Column& column : columns_) {
    if (!column.samples.ascending()) {
      ++unsorted;
      column.samples.sort();
    }
    column.samples.shrink();
    SampleColumn::Cursor cursor;
    Sample first;
    column.samples.next(cursor, first);
    first_ms_ = std::min(first_ms_, first.at_ms);
    last_ms_ = std::max(last_ms_, column.samples.last().at_ms);
  }
  if (unsorted > 0) {
    problems_.push_back(
        {"unsorted_samples", path_,
         fmt::format("the samples of {} series don't stand in time order (promtool refuses such a "
                     "file); they were sorted",
                     unsorted)});
  }
}

Result<std::optional<TimeRange>> OpenMetricsRecording::span() {
  if (Status status = open(); !status) return std::move(status).error();
  // Whole steps; a sample at the very beginning only tells where a counter stood.
  const Duration step = counters_.step();
  TimeRange range{floor_to(from_unix_ms(first_ms_), step), floor_to(from_unix_ms(last_ms_), step)};
  if (unix_ms(range.end) < last_ms_ || range.end == range.begin) range.end += step;
  return std::optional(range);
}

void OpenMetricsRecording::rewind() {
  for (Column& column : columns_) {
    column.cursor = {};
    column.ahead.reset();
  }
}

// Hands on the samples of the range, and the last one before it.
void OpenMetricsRecording::feed(Column& column, TimeRange range) {
  batch_.clear();
  Sample sample;
  while (column.ahead || column.samples.next(column.cursor, sample)) {
    if (column.ahead) {
      sample = *column.ahead;
      column.ahead.reset();
    }
    if (sample.at_ms > unix_ms(range.end)) {
      column.ahead = sample;
      break;
    }
    if (sample.at_ms <= unix_ms(range.begin)) batch_.clear();
    batch_.push_back(sample);
  }
  if (!batch_.empty()) counters_.append(column.series, batch_);
}

Result<Fetch> OpenMetricsRecording::fetch(TimeRange range) {
  if (Status status = open(); !status) return std::move(status).error();
  if (unix_ms(range.begin) < position_ms_) rewind();
  position_ms_ = unix_ms(range.end);
  counters_.begin(range);
  for (Column& column : columns_) feed(column, range);
  Fetch fetched = counters_.finish();
  std::ranges::move(std::exchange(problems_, {}), std::back_inserter(fetched.problems));
  return fetched;
}

}  // namespace outcomed
