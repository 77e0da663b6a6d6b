#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "queries/counters/counter_reader_impl.h"

namespace outcomed {
namespace {

// "litellm_x_metric_total" and "litellm_x_metric_created" -> "litellm_x_metric".
std::string_view base_name(std::string_view metric) {
  for (const std::string_view suffix : {"_total", "_created", "_count"}) {
    if (metric.ends_with(suffix)) return metric.substr(0, metric.size() - suffix.size());
  }
  return metric;
}

std::uint64_t identity_of(const Labels& labels) {
  Labels copy = labels;
  copy.set("__name__", std::string(base_name(labels.get("__name__"))));
  return copy.fingerprint();
}

}  // namespace

std::uint32_t CounterReader::Impl::target_of(const Labels& labels) {
  const std::string job(labels.get("job"));
  const std::string_view instance = labels.get("instance");
  const std::string name =
      job.empty() ? std::string(instance) : fmt::format("{}/{}", job, instance);
  const auto [found, fresh] =
      target_ids_.try_emplace(name, static_cast<std::uint32_t>(targets_.size()));
  if (fresh) targets_.emplace_back(name, job);
  return found->second;
}

CounterSeries CounterReader::Impl::describe(Labels labels) {
  CounterSeries series;
  const std::string metric(labels.get("__name__"));
  if (metric == kProcessStartMetric || metric == kUpMetric) {
    series.kind = metric == kUpMetric ? SeriesKind::up : SeriesKind::process_start;
    series.target = target_of(labels);
    return series;
  }
  if (metric.ends_with("_created")) {
    const std::string_view base = base_name(metric);
    const bool wanted = std::ranges::any_of(
        metrics_, [&](const std::string& name) { return base_name(name) == base; });
    if (!wanted) return series;
    series.kind = SeriesKind::created;
    series.target = target_of(labels);
    series.identity = identity_of(labels);
    return series;
  }
  if (!metrics_.contains(metric)) return series;
  for (std::uint32_t signal = 0; signal < tallies_.size(); ++signal) {
    tallies_[signal].contributions(labels, signal, series.contributions);
  }
  for (const auto& calibration : calibrations_) {
    for (const Selector& selector : calibration->interest()) {
      series.learned_from |= selector.metric == metric && all_match(selector.matchers, labels);
    }
  }
  if (series.contributions.empty() && !series.learned_from) return series;
  series.kind = SeriesKind::counter;
  series.target = target_of(labels);
  series.identity = identity_of(labels);
  series.metric = std::hash<std::string>{}(metric)*31 + series.target;
  if (const auto found = restored_.find(series.identity); found != restored_.end()) {
    series.memory = std::move(found->second);
    restored_.erase(found);
  }
  series.name = *metrics_.find(metric);
  series.contributions.shrink_to_fit();
  if (series.learned_from) series.labels = std::move(labels);
  targets_[series.target].make_relevant();
  return series;
}

// A stream may deliver a series in several pieces with others between: they are joined, and put in
// time order where a piece came late.
void CounterReader::Impl::join_segments() {
  std::ranges::stable_sort(segments_, {}, &SampleSegment::series);
  const bool repeated =
      std::ranges::adjacent_find(segments_, {}, &SampleSegment::series) != segments_.end();
  if (repeated) {
    std::vector<Sample> joined;
    joined.reserve(arena_.size());
    std::vector<SampleSegment> merged;
    for (const SampleSegment& segment : segments_) {
      if (merged.empty() || merged.back().series != segment.series) {
        merged.push_back({segment.series, joined.size(), joined.size()});
      }
      const auto samples = samples_of(segment);
      joined.insert(joined.end(), samples.begin(), samples.end());
      merged.back().end = joined.size();
    }
    arena_ = std::move(joined);
    segments_ = std::move(merged);
  }
  for (const SampleSegment& segment : segments_) {
    const auto first = arena_.begin() + static_cast<std::ptrdiff_t>(segment.begin);
    const auto last = arena_.begin() + static_cast<std::ptrdiff_t>(segment.end);
    if (!std::ranges::is_sorted(first, last, {}, &Sample::at_ms)) {
      std::ranges::stable_sort(first, last, {}, &Sample::at_ms);
    }
  }
  // What lies beyond the range is read again by the next call.
  for (SampleSegment& segment : segments_) {
    while (segment.end > segment.begin && arena_[segment.end - 1].at_ms > unix_ms(range_.end)) {
      --segment.end;
    }
  }
  std::erase_if(segments_,
                [](const SampleSegment& segment) { return segment.begin == segment.end; });
}

// Falls and rebounds of the counters of a target that exposes no start time.
void CounterReader::Impl::find_drops(const SampleSegment& segment) {
  const CounterSeries& series = series_[segment.series];
  Target& target = targets_[series.target];
  constexpr double kSmall = 5;  // Lower counters come back by chance.
  constexpr int kRebound = 5;   // … within this many scrapes.
  Stand last = series.memory.stands.empty() ? Stand{} : series.memory.stands.back();
  double height = 0;
  int since_drop = kRebound;
  for (const Sample& sample : samples_of(segment)) {
    if (!is_counter_value(sample.value)) continue;
    if (sample.at_ms <= series.memory.last_at) continue;
    if (sample.value < last.value) {
      target.add_drop(last.at, sample.at_ms);
      if (last.value - sample.value >= kSmall) {
        height = last.value;
        since_drop = 0;
      }
    } else if (since_drop < kRebound && ++since_drop <= kRebound && sample.value >= height) {
      target.add_rebound(sample.at_ms);
      since_drop = kRebound;
    }
    last = {0, sample.at_ms, sample.value};
  }
}

// The samples that prove a scrape: of `up` those that say so, of counters all but stale markers.
std::vector<Sample> CounterReader::Impl::scraped(std::span<const Sample> samples, SeriesKind kind) {
  std::vector<Sample> kept;
  std::ranges::copy_if(samples, std::back_inserter(kept), [&](const Sample& sample) {
    return kind == SeriesKind::up ? sample.value == 1 : !std::isnan(sample.value);
  });
  return kept;
}

void CounterReader::Impl::build_targets() {
  std::vector<bool> has_starts(targets_.size(), false);
  for (const SampleSegment& segment : segments_) {
    const CounterSeries& series = series_[segment.series];
    if (series.kind != SeriesKind::process_start) continue;
    targets_[series.target].add_process_starts(samples_of(segment));
    has_starts[series.target] = true;
  }
  for (const SampleSegment& segment : segments_) {
    const CounterSeries& series = series_[segment.series];
    if (has_starts[series.target]) continue;
    if (series.kind != SeriesKind::up && series.kind != SeriesKind::counter) continue;
    targets_[series.target].add_times(scraped(samples_of(segment), series.kind));
    if (series.kind == SeriesKind::counter) find_drops(segment);
  }
  for (Target& target : targets_) {
    const bool known_before = target.first_seen() != 0;
    if (target.seal() && known_before) {
      for (const auto& calibration : calibrations_) calibration->restarted(target.name());
    }
    if (target.first_seen() != 0 && (watch_start_ == 0 || target.first_seen() < watch_start_)) {
      watch_start_ = target.first_seen();
    }
    if (target.flapping()) {
      say("flapping_counters", target.name(),
          "its counters fall and come back again and again: several processes answer behind one "
          "address and nothing tells them apart; expose process_start_time_seconds, set "
          "PROMETHEUS_MULTIPROC_DIR, or scrape each process by itself");
    }
  }
}

void CounterReader::Impl::read_created() {
  created_.clear();
  for (const SampleSegment& segment : segments_) {
    const CounterSeries& series = series_[segment.series];
    if (series.kind != SeriesKind::created) continue;
    std::vector<Sample>& known = created_[series.identity];
    for (const Sample& sample : samples_of(segment)) {
      if (!std::isfinite(sample.value)) continue;
      if (known.empty() || known.back().value != sample.value) known.push_back(sample);
    }
  }
}

std::optional<double> CounterReader::Impl::created_at(const CounterSeries& series,
                                                      std::int64_t at) const {
  const auto found = created_.find(series.identity);
  if (found == created_.end()) return std::nullopt;
  const auto& known = found->second;
  const auto next = std::ranges::upper_bound(known, at, {}, &Sample::at_ms);
  if (next == known.begin()) return std::nullopt;
  return std::prev(next)->value;
}

// Shows the calibrations where their counters stand at the end of the batch, for each target only
// in the process that answered last.
void CounterReader::Impl::learn() {
  if (calibrations_.empty()) return;
  std::vector<LastValue> values;
  for (const SampleSegment& segment : segments_) {
    const CounterSeries& series = series_[segment.series];
    if (!series.learned_from) continue;
    const Target& target = targets_[series.target];
    std::size_t cursor = 0;
    double value = -1;
    for (const Sample& sample : samples_of(segment)) {
      if (!std::isfinite(sample.value)) continue;
      if (target.process_at(sample.at_ms, cursor) == target.last_process()) value = sample.value;
    }
    if (value >= 0) values.push_back({target.name(), &series.labels, value});
  }
  for (const auto& calibration : calibrations_) calibration->learn(values);
}

}  // namespace outcomed
