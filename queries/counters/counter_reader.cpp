#include "queries/counters/counter_reader.h"

#include <fmt/core.h>

#include <algorithm>

#include "queries/counters/counter_reader_impl.h"

namespace outcomed {

std::vector<Coverage> CounterReader::Impl::coverage() const {
  const Duration length = plans_.empty() ? Duration(60'000) : plans_.front().step;
  std::vector<Coverage> steps(static_cast<std::size_t>(range_.length() / length),
                              Coverage::missing);
  const std::int64_t begin = unix_ms(range_.begin);
  // Until some target showed a wanted counter, all of them stand for the gateway.
  const bool any = std::ranges::any_of(targets_, &Target::relevant);
  for (const Target& target : targets_) {
    if (any && !target.relevant()) continue;
    for (const Scrape& scrape : target.scrapes()) {
      if (scrape.at <= begin || scrape.at > unix_ms(range_.end)) continue;
      Coverage& step = steps[static_cast<std::size_t>((scrape.at - begin - 1) / length.count())];
      if (target.flapping()) {
        step = Coverage::failed;
      } else if (step == Coverage::missing) {
        step = Coverage::complete;
      }
    }
  }
  return steps;
}

void CounterReader::Impl::say(std::string what, std::string where, std::string message) {
  if (problems_.size() >= 100) return;  // One cause rarely needs more lines than that.
  problems_.push_back({std::move(what), std::move(where), std::move(message)});
}

void CounterReader::Impl::report_faults() {
  if (faults_.late > 0) {
    say("late_samples", "",
        fmt::format("{} samples came late; their counts are in the next sample", faults_.late));
  }
  if (faults_.not_finite > 0) {
    say("not_finite", "", fmt::format("{} samples were infinite and skipped", faults_.not_finite));
  }
  if (faults_.negative > 0) {
    say("negative_counter", "",
        fmt::format("{} samples were negative and skipped: not a counter?", faults_.negative));
  }
  if (faults_.too_large > 0) {
    say("too_large", "",
        fmt::format("{} samples were above 2^53, where a counter no longer tells one request from "
                    "the next, and skipped",
                    faults_.too_large));
  }
  faults_ = {};
}

Fetch CounterReader::Impl::finish() {
  for (Tally& tally : tallies_) tally.begin(range_);
  if (!plans_.empty()) {
    step_count_ = static_cast<std::size_t>(range_.length() / plans_.front().step);
  }
  join_segments();
  build_targets();
  read_created();
  learn();
  for (const SampleSegment& segment : segments_) {
    if (series_[segment.series].kind == SeriesKind::counter) walk(segment);
  }
  settle_births();
  report_faults();

  Fetch fetch;
  fetch.samples = arena_.size();
  const std::vector<Coverage> steps = coverage();
  for (Tally& tally : tallies_) fetch.batches.push_back(tally.finish(steps));
  fetch.problems = std::exchange(problems_, {});
  for (const auto& calibration : calibrations_) {
    for (std::string& fact : calibration->facts()) fetch.facts.push_back(std::move(fact));
  }
  for (Target& target : targets_) target.clear_batch();
  choose_selectors();
  // What a catch-up needed is not kept for the small batches that follow.
  if (arena_.capacity() / 16 > arena_.size()) std::vector<Sample>().swap(arena_);
  begin(range_);
  return fetch;
}

CounterReader::CounterReader(std::vector<SignalPlan> plans)
    : impl_(std::make_unique<Impl>(std::move(plans))) {}
CounterReader::~CounterReader() = default;

const std::vector<Selector>& CounterReader::selectors() const { return impl_->selectors_; }

Duration CounterReader::step() const {
  return impl_->plans_.empty() ? Duration(60'000) : impl_->plans_.front().step;
}

void CounterReader::begin(TimeRange range) { impl_->begin(range); }

SeriesId CounterReader::open(std::string_view key, const std::function<Labels()>& labels) {
  return impl_->open(key, labels);
}

void CounterReader::append(SeriesId series, std::span<const Sample> samples) {
  impl_->append(series, samples);
}

Fetch CounterReader::finish() { return impl_->finish(); }

const std::vector<Labels>& CounterReader::cells(std::size_t signal) const {
  return impl_->tallies_[signal].cells();
}

void CounterReader::seed_cells(std::size_t signal, const std::vector<Labels>& cells) {
  impl_->tallies_[signal].seed(cells);
}

std::vector<std::string> CounterReader::jobs() const {
  std::set<std::string> jobs;
  for (const Target& target : impl_->targets_) {
    if (target.relevant() && !target.job().empty()) jobs.insert(target.job());
  }
  return {jobs.begin(), jobs.end()};
}

void CounterReader::save(Writer& writer, bool with_series) const {
  impl_->save(writer, with_series);
}

bool CounterReader::load(Reader& reader) { return impl_->load(reader); }

}  // namespace outcomed
