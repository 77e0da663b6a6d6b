// The insides of CounterReader. series_table.cpp: which series there are and what they stand for;
// booking.cpp: what their rises add to; counter_memory.cpp: what is saved between calls.
#pragma once

#include <map>
#include <set>
#include <unordered_map>

#include "queries/counters/counter_reader.h"
#include "queries/counters/series.h"
#include "queries/counters/tally.h"
#include "queries/counters/target.h"

namespace outcomed {

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

enum class SeriesKind : std::uint8_t { ignored, counter, process_start, up, created };

struct CounterSeries {
  SeriesKind kind = SeriesKind::ignored;
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

struct SampleSegment {
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
struct RiseBooking {
  Tally::Rows rows;
  int divisor = 1;
};

// The number of the step that a time lies in, without a division: it runs for every rise.
class StepFinder {
 public:
  explicit StepFinder(Duration length)
      : length_(length.count()), inverse_(1 / static_cast<double>(length_)) {}

  // Step i holds what is more than i and at most i + 1 lengths after the begin.
  [[nodiscard]] std::size_t at(std::int64_t since_begin) const {
    const std::int64_t last = since_begin - 1;
    auto step = static_cast<std::int64_t>(static_cast<double>(last) * inverse_);
    if (step * length_ > last) --step;  // The product may be off by a rounding.
    if ((step + 1) * length_ <= last) ++step;
    return static_cast<std::size_t>(step);
  }

 private:
  std::int64_t length_;
  double inverse_;
};

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
    if (series_[id].kind == SeriesKind::ignored || samples.empty()) return;
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
  CounterSeries describe(Labels labels);
  std::uint32_t target_of(const Labels& labels);
  std::span<const Sample> samples_of(const SampleSegment& segment) const {
    return std::span(arena_).subspan(segment.begin, segment.end - segment.begin);
  }
  static std::vector<Sample> scraped(std::span<const Sample> samples, SeriesKind kind);
  void join_segments();
  void build_targets();
  void find_drops(const SampleSegment& segment);
  void read_created();
  std::optional<double> created_at(const CounterSeries& series, std::int64_t at) const;
  void learn();
  void walk(const SampleSegment& segment);
  void on_first(SeriesId id, const FirstSight& sight);
  void choose_bookings(const CounterSeries& series);
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
  std::vector<CounterSeries> series_;
  std::map<std::string, std::uint32_t, std::less<>> target_ids_;
  std::int64_t watch_start_ = 0;
  std::unordered_map<std::uint64_t, SeriesMemory> restored_;  // By identity, until reopened.

  TimeRange range_;
  std::vector<Sample> arena_;
  std::vector<SampleSegment> segments_;
  std::unordered_map<std::uint64_t, std::vector<Sample>> created_;
  std::vector<PendingBirth> births_;
  std::vector<RiseBooking> bookings_;
  StepFinder steps_{std::chrono::minutes(1)};
  std::size_t step_count_ = 0;
  SampleFaults faults_;
  std::vector<Problem> problems_;
};

}  // namespace outcomed
