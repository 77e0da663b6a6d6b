#include "queries/counters/counter_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "queries/counters/series.h"
#include "queries/counters/tally.h"
#include "queries/counters/target.h"

namespace outcomed {
namespace {

// A rise that took longer than this can't be placed in time: it is reported, not booked.
constexpr Duration kPlacementLimit = std::chrono::hours(1);

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

enum class Kind : std::uint8_t { ignored, counter, process_start, up, created };

struct Series {
  Kind kind = Kind::ignored;
  bool learned_from = false;  // Shown to calibrations.
  std::uint32_t target = 0;
  // Of base metric name and labels: the same for X_total and X_created.
  std::uint64_t identity = 0;
  std::uint64_t metric = 0;  // Hash of the metric name and target: relatives of this series.
  std::string_view name;     // Of its metric, for messages; lies in `metrics_`.
  Labels labels;             // Only of those shown to calibrations: they are large.
  std::vector<Contribution> contributions;
  SeriesMemory memory;
};

struct Segment {
  SeriesId series = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

// A first sight that counts from 0, booked once all series have been walked.
struct PendingBirth {
  SeriesId series = 0;
  std::int64_t at = 0;
  std::int64_t seen_before = 0;
  double value = 0;
  bool proved = false;
};

// Where the rises of the series at hand are booked.
struct Booking {
  Tally* tally = nullptr;
  Contribution to;
  int divisor = 1;
};

// The number of the step that a time lies in. Times of one series come one after the other, so that
// a division is needed only here and there.
class StepFinder {
 public:
  explicit StepFinder(Duration length) : length_(length.count()), end_(length_) {}
  // Step i holds what is more than i and at most i + 1 lengths after the begin.
  std::size_t at(std::int64_t since_begin);

 private:
  std::int64_t length_;
  std::int64_t end_;  // Of `step_`.
  std::size_t step_ = 0;
};

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

class CounterReader::Impl {
 public:
  explicit Impl(std::vector<SignalPlan> plans) : plans_(std::move(plans)) {
    if (!plans_.empty()) steps_ = StepFinder(plans_.front().step);
    tallies_.reserve(plans_.size());
    for (const SignalPlan& plan : plans_) {
      tallies_.emplace_back(plan);
      for (const CounterTerm& term : plan.terms) {
        add_selector(term.selector);
        metrics_.insert(term.selector.metric);
      }
      if (plan.calibration != nullptr &&
          std::ranges::find(calibrations_, plan.calibration) == calibrations_.end()) {
        calibrations_.push_back(plan.calibration);
      }
    }
    for (const auto& calibration : calibrations_) {
      for (const Selector& selector : calibration->interest()) metrics_.insert(selector.metric);
    }
    choose_selectors();
  }

  void add_selector(const Selector& selector) {
    if (std::ranges::find(term_selectors_, selector) == term_selectors_.end()) {
      term_selectors_.push_back(selector);
    }
  }

  // While a calibration is unsettled its counters are read too.
  void choose_selectors() {
    selectors_ = term_selectors_;
    for (const auto& calibration : calibrations_) {
      if (calibration->settled()) continue;
      for (const Selector& selector : calibration->interest()) {
        if (std::ranges::find(selectors_, selector) == selectors_.end()) {
          selectors_.push_back(selector);
        }
      }
    }
  }

  void begin(TimeRange range) {
    range_ = range;
    arena_.clear();
    segments_.clear();
  }

  SeriesId open(std::string_view key, const std::function<Labels()>& labels) {
    if (const auto found = ids_.find(key); found != ids_.end()) return found->second;
    const auto id = static_cast<SeriesId>(series_.size());
    series_.push_back(describe(labels()));
    ids_.emplace(std::string(key), id);
    return id;
  }

  void append(SeriesId id, std::span<const Sample> samples) {
    if (series_[id].kind == Kind::ignored || samples.empty()) return;
    if (segments_.empty() || segments_.back().series != id) {
      segments_.push_back({id, arena_.size(), arena_.size()});
    }
    arena_.insert(arena_.end(), samples.begin(), samples.end());
    segments_.back().end = arena_.size();
  }

  Fetch finish();
  void save(Writer& writer, bool with_series) const;
  bool load(Reader& reader);

  std::vector<SignalPlan> plans_;
  std::vector<Tally> tallies_;
  std::vector<Selector> selectors_;
  std::vector<Target> targets_;

 private:
  Series describe(Labels labels);
  std::uint32_t target_of(const Labels& labels);
  std::span<const Sample> samples_of(const Segment& segment) const {
    return std::span(arena_).subspan(segment.begin, segment.end - segment.begin);
  }
  static std::vector<Sample> scraped(std::span<const Sample> samples, Kind kind);
  void join_segments();
  void build_targets();
  void find_drops(const Segment& segment);
  void read_created();
  std::optional<double> created_at(const Series& series, std::int64_t at) const;
  void learn();
  void walk(const Segment& segment);
  void on_first(SeriesId id, const FirstSight& sight);
  void choose_bookings(const Series& series);
  void book(std::int64_t at, double from, double to);
  void settle_births();
  using Gone = std::map<std::pair<std::uint64_t, std::int64_t>, double>;
  Gone series_gone() const;
  std::vector<Coverage> coverage() const;
  void say(std::string what, std::string where, std::string message);
  void report_faults();

  std::vector<Selector> term_selectors_;
  std::vector<std::shared_ptr<Calibration>> calibrations_;
  std::set<std::string, std::less<>> metrics_;
  std::unordered_map<std::string, SeriesId, StringHash, std::equal_to<>> ids_;
  std::vector<Series> series_;
  std::map<std::string, std::uint32_t, std::less<>> target_ids_;
  std::int64_t watch_start_ = 0;
  std::unordered_map<std::uint64_t, SeriesMemory> restored_;  // By identity, until reopened.

  TimeRange range_;
  std::vector<Sample> arena_;
  std::vector<Segment> segments_;
  std::unordered_map<std::uint64_t, std::vector<Sample>> created_;
  std::vector<PendingBirth> births_;
  std::vector<Booking> bookings_;
  StepFinder steps_{std::chrono::minutes(1)};
  SampleFaults faults_;
  std::vector<Problem> problems_;
};

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

Series CounterReader::Impl::describe(Labels labels) {
  Series series;
  const std::string metric(labels.get("__name__"));
  if (metric == kProcessStartMetric || metric == kUpMetric) {
    series.kind = metric == kUpMetric ? Kind::up : Kind::process_start;
    series.target = target_of(labels);
    return series;
  }
  if (metric.ends_with("_created")) {
    const std::string_view base = base_name(metric);
    const bool wanted = std::ranges::any_of(
        metrics_, [&](const std::string& name) { return base_name(name) == base; });
    if (!wanted) return series;
    series.kind = Kind::created;
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
  series.kind = Kind::counter;
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
  std::ranges::stable_sort(segments_, {}, &Segment::series);
  const bool repeated =
      std::ranges::adjacent_find(segments_, {}, &Segment::series) != segments_.end();
  if (repeated) {
    std::vector<Sample> joined;
    joined.reserve(arena_.size());
    std::vector<Segment> merged;
    for (const Segment& segment : segments_) {
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
  for (const Segment& segment : segments_) {
    const auto first = arena_.begin() + static_cast<std::ptrdiff_t>(segment.begin);
    const auto last = arena_.begin() + static_cast<std::ptrdiff_t>(segment.end);
    if (!std::ranges::is_sorted(first, last, {}, &Sample::at_ms)) {
      std::ranges::stable_sort(first, last, {}, &Sample::at_ms);
    }
  }
  // What lies beyond the range is read again by the next call.
  for (Segment& segment : segments_) {
    while (segment.end > segment.begin && arena_[segment.end - 1].at_ms > unix_ms(range_.end)) {
      --segment.end;
    }
  }
  std::erase_if(segments_, [](const Segment& segment) { return segment.begin == segment.end; });
}

// Falls and rebounds of the counters of a target that exposes no start time.
void CounterReader::Impl::find_drops(const Segment& segment) {
  const Series& series = series_[segment.series];
  Target& target = targets_[series.target];
  constexpr double kSmall = 5;  // Lower counters come back by chance.
  constexpr int kRebound = 5;   // … within this many scrapes.
  Stand last = series.memory.stands.empty() ? Stand{} : series.memory.stands.back();
  double height = 0;
  int since_drop = kRebound;
  for (const Sample& sample : samples_of(segment)) {
    if (!std::isfinite(sample.value) || sample.value < 0) continue;
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
std::vector<Sample> CounterReader::Impl::scraped(std::span<const Sample> samples, Kind kind) {
  std::vector<Sample> kept;
  std::ranges::copy_if(samples, std::back_inserter(kept), [&](const Sample& sample) {
    return kind == Kind::up ? sample.value == 1 : !std::isnan(sample.value);
  });
  return kept;
}

void CounterReader::Impl::build_targets() {
  std::vector<bool> has_starts(targets_.size(), false);
  for (const Segment& segment : segments_) {
    const Series& series = series_[segment.series];
    if (series.kind != Kind::process_start) continue;
    targets_[series.target].add_process_starts(samples_of(segment));
    has_starts[series.target] = true;
  }
  for (const Segment& segment : segments_) {
    const Series& series = series_[segment.series];
    if (has_starts[series.target]) continue;
    if (series.kind != Kind::up && series.kind != Kind::counter) continue;
    targets_[series.target].add_times(scraped(samples_of(segment), series.kind));
    if (series.kind == Kind::counter) find_drops(segment);
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
  for (const Segment& segment : segments_) {
    const Series& series = series_[segment.series];
    if (series.kind != Kind::created) continue;
    std::vector<Sample>& known = created_[series.identity];
    for (const Sample& sample : samples_of(segment)) {
      if (!std::isfinite(sample.value)) continue;
      if (known.empty() || known.back().value != sample.value) known.push_back(sample);
    }
  }
}

std::optional<double> CounterReader::Impl::created_at(const Series& series, std::int64_t at) const {
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
  for (const Segment& segment : segments_) {
    const Series& series = series_[segment.series];
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

std::size_t StepFinder::at(std::int64_t since_begin) {
  if (since_begin > end_ && since_begin <= end_ + length_) {  // The next one, as a rule.
    ++step_;
    end_ += length_;
  } else if (since_begin > end_ || since_begin <= end_ - length_) {
    const std::int64_t step = (since_begin - 1) / length_;
    step_ = static_cast<std::size_t>(step);
    end_ = (step + 1) * length_;
  }
  return step_;
}

void CounterReader::Impl::choose_bookings(const Series& series) {
  bookings_.clear();
  for (const Contribution& contribution : series.contributions) {
    const SignalPlan& plan = plans_[contribution.signal];
    const int divisor = contribution.calibrated && plan.calibration != nullptr
                            ? plan.calibration->divisor(targets_[series.target].name())
                            : 1;
    bookings_.push_back({&tallies_[contribution.signal], contribution, divisor});
  }
}

// Of the series that the bookings were chosen for.
void CounterReader::Impl::book(std::int64_t at, double from, double to) {
  const std::size_t step = steps_.at(at - unix_ms(range_.begin));
  for (const Booking& booking : bookings_) {
    // Floors of both ends (nothing is negative): halves of a double count left at one scrape are
    // made up at the next.
    const auto whole = [&](double value) {
      return static_cast<std::int64_t>(booking.divisor == 1 ? value : value / booking.divisor);
    };
    const std::int64_t count = whole(to) - whole(from);
    if (count != 0) booking.tally->add(booking.to, step, count);
  }
}

void CounterReader::Impl::on_first(SeriesId id, const FirstSight& sight) {
  const Series& series = series_[id];
  const Target& target = targets_[series.target];
  const BirthEvidence evidence{created_at(series, sight.at), watch_start_, kPlacementLimit};
  const Birth birth = judge_birth(sight, target, evidence);
  if (birth == Birth::too_long) {
    say("unplaced_counts", target.name(),
        fmt::format(
            "{} stood at {} at first sight after more than {} unseen; these can't be placed "
            "in time and are not counted",
            series.name, sight.value, format_duration(kPlacementLimit)));
  }
  if (birth != Birth::proved && birth != Birth::assumed) return;
  births_.push_back({id, sight.at, target.scrape_before(sight.at, sight.process), sight.value,
                     birth == Birth::proved});
}

void CounterReader::Impl::walk(const Segment& segment) {
  Series& series = series_[segment.series];
  const auto rise = [&](const Rise& r) {
    if (r.at - r.since > kPlacementLimit.count()) {
      say("unplaced_counts", targets_[series.target].name(),
          fmt::format("{} rose by {} between {} and {}; this can't be placed in time and is not "
                      "counted",
                      series.name, r.to - r.from, format_rfc3339(from_unix_ms(r.since)),
                      format_rfc3339(from_unix_ms(r.at))));
      return;
    }
    book(r.at, r.from, r.to);
  };
  choose_bookings(series);
  walk_series(samples_of(segment), unix_ms(range_.begin), targets_[series.target], series.memory,
              faults_, rise, [&](const FirstSight& sight) { on_first(segment.series, sight); });
}

// Without a restart a series of the client library never goes away. One that does in the very
// scrape in which a relative appears that stands no lower was given other labels: nothing happened.
// For all series that went: the lowest last value, by metric and time of the last sample.
CounterReader::Impl::Gone CounterReader::Impl::series_gone() const {
  Gone gone;
  for (const Series& series : series_) {
    if (series.kind != Kind::counter || series.memory.stands.empty()) continue;
    const Stand& last = *std::ranges::max_element(series.memory.stands, {}, &Stand::at);
    if (last.value <= 0) continue;
    const auto [found, fresh] = gone.try_emplace({series.metric, last.at}, last.value);
    if (!fresh) found->second = std::min(found->second, last.value);
  }
  return gone;
}

void CounterReader::Impl::settle_births() {
  const bool doubtful = std::ranges::any_of(
      births_, [](const PendingBirth& b) { return !b.proved && b.seen_before != 0; });
  const Gone gone = doubtful ? series_gone() : Gone{};
  for (const PendingBirth& birth : births_) {
    const Series& series = series_[birth.series];
    const auto relative = gone.find({series.metric, birth.seen_before});
    if (!birth.proved && relative != gone.end() && relative->second <= birth.value) {
      say("relabelled_series", targets_[series.target].name(),
          fmt::format("{} went on under other labels without a restart; counted from there on",
                      series.name));
      continue;
    }
    choose_bookings(series);
    book(birth.at, 0, birth.value);
  }
  births_.clear();
}

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
  faults_ = {};
}

Fetch CounterReader::Impl::finish() {
  for (Tally& tally : tallies_) tally.begin(range_);
  join_segments();
  build_targets();
  read_created();
  learn();
  for (const Segment& segment : segments_) {
    if (series_[segment.series].kind == Kind::counter) walk(segment);
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
  for (const Series& series : series_) counters += with_series && series.kind == Kind::counter;
  writer.u64(counters);
  for (const Series& series : series_) {
    if (!with_series || series.kind != Kind::counter) continue;
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
