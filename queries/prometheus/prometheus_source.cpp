#include "queries/prometheus/prometheus_source.h"

#include <fmt/core.h>

#include <algorithm>

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

std::vector<Question> PrometheusSource::counter_questions() const {
  // The one place that decides which counters are asked: series that help with births (X_created)
  // are added here, once CounterReader says that it wants them.
  return make_questions(reader_->selectors(), settings_.matchers);
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
    std::vector<Question> questions = counter_questions();
    questions.push_back(target_question(reader_->jobs(), settings_.matchers));
    return read_ranges(api_, questions, span, span.length(), *sink_);
  }
  const auto questions = long_range_questions(span);
  if (!questions) return questions.error();
  return backfill_.read(*questions, span, *sink_, [&] { reader_->begin(range); });
}

// The metrics of targets are asked only for jobs that are known or showed a wanted counter during
// the span: over a long range those of everything that is scraped could be far more than the
// counters.
Result<std::vector<Question>> PrometheusSource::long_range_questions(TimeRange span) {
  std::vector<Question> questions = counter_questions();
  std::vector<std::string> selectors;
  for (const Question& question : questions) selectors.push_back(question.selector());
  const auto found = api_.label_values("job", selectors, closed_span(span));
  if (!found && found.error().is_transient()) return found.error();
  std::vector<std::string> jobs = reader_->jobs();
  if (found) jobs.insert(jobs.end(), found->begin(), found->end());
  std::ranges::sort(jobs);
  const auto repeated = std::ranges::unique(jobs);
  jobs.erase(repeated.begin(), repeated.end());
  // A server that can't say (an old one) is asked for all.
  if (!found || !jobs.empty()) questions.push_back(target_question(jobs, settings_.matchers));
  return questions;
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
