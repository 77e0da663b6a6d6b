#include "queries/prometheus/prometheus_source.h"

#include <fmt/core.h>

#include "queries/prometheus/question.h"
#include "queries/prometheus/ranges.h"

namespace outcomed {
namespace {

// Up to here a range selector costs the server less than reading whole chunks would.
constexpr Duration kLongestLiveRange = 15min;

}  // namespace

Result<std::unique_ptr<PrometheusSource>> PrometheusSource::make(PrometheusSettings settings,
                                                                 std::vector<SignalPlan> plans,
                                                                 HttpClient& http) {
  for (const SignalPlan& plan : plans) {
    if (settings.timeout < plan.step) continue;
    return Error{
        ErrorKind::invalid,
        fmt::format("timeout {} is not shorter than the step {} of signal {}: a slow answer "
                    "would delay the next one",
                    format_duration(settings.timeout), format_duration(plan.step), plan.name)};
  }
  return std::unique_ptr<PrometheusSource>(
      new PrometheusSource(std::move(settings), std::move(plans), http));
}

PrometheusSource::PrometheusSource(PrometheusSettings settings, std::vector<SignalPlan> plans,
                                   HttpClient& http)
    : settings_(std::move(settings)),
      plans_(std::move(plans)),
      api_(settings_, http),
      backfill_(api_, settings_.backfill_way()) {
  start_reader();
}

void PrometheusSource::start_reader() {
  reader_ = std::make_unique<CounterReader>(plans_);
  for (const auto& [signal, cells] : seeds_) reader_->seed_cells(signal, cells);
  sink_ = std::make_unique<CanonicalKeys>(*reader_);
  read_until_.reset();
}

std::vector<Question> PrometheusSource::questions() const {
  // The one place that decides what is asked: series beside the signals' counters are added here
  // (X_created, once CounterReader says that it wants them).
  std::vector<Question> questions = make_questions(reader_->selectors(), settings_.matchers);
  questions.push_back(target_question(reader_->jobs(), settings_.matchers));
  return questions;
}

Result<Fetch> PrometheusSource::fetch(TimeRange range) {
  if (range.length() <= 0ms) {
    return Error{ErrorKind::invalid, "a range without length was asked for"};
  }
  api_.take_warnings();
  reader_->begin(range);  // Forgets what a failed call left behind.
  if (Status status = read(range); !status) return std::move(status).error();
  Fetch fetch = reader_->finish();
  read_until_ = range.end;
  for (const std::string& warning : api_.take_warnings()) {
    fetch.facts.push_back("the source says that data is missing: " + warning);
  }
  sink_->tidy();
  api_.shrink();
  return fetch;
}

Status PrometheusSource::read(TimeRange range) {
  TimeRange span = range;
  if (read_until_ != range.begin) span.begin -= settings_.lookback;
  if (range.length() <= kLongestLiveRange) {
    return read_ranges(api_, questions(), span, span.length(), *sink_);
  }
  return backfill_.read(questions(), span, *sink_, [&] { reader_->begin(range); });
}

const std::vector<Labels>& PrometheusSource::cells(std::size_t signal) const {
  return reader_->cells(signal);
}

// Series are not saved: where they stood is asked again, with the lookback.
void PrometheusSource::save(Writer& writer) const { reader_->save(writer, false); }

void PrometheusSource::seed_cells(std::size_t signal, const std::vector<Labels>& cells) {
  seeds_[signal] = cells;
  reader_->seed_cells(signal, cells);
}

bool PrometheusSource::load(Reader& reader) {
  start_reader();
  if (reader_->load(reader)) return true;
  start_reader();
  return false;
}

}  // namespace outcomed
