#include "daemon/telemetry/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "daemon/telemetry/process_stats.h"

namespace outcomed {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;

const prometheus::Histogram::BucketBoundaries kSeconds = {
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};

double seconds(Duration d) { return static_cast<double>(d.count()) / 1000; }
double seconds(Timestamp t) { return seconds(t.time_since_epoch()); }

}  // namespace

struct Metrics::Families {
  explicit Families(double started) : process(started) {}

  ProcessStats process;
  prometheus::Registry registry;
  template <class Metric>
  prometheus::Family<Metric>& add(prometheus::detail::Builder<Metric> builder, const char* name,
                                  const char* help) {
    return builder.Name(name).Help(help).Register(registry);
  }

  prometheus::Family<prometheus::Counter>& ticks =
      add(BuildCounter(), "outcomed_ticks_total", "Ticks that were finished.");
  prometheus::Family<prometheus::Counter>& missed =
      add(BuildCounter(), "outcomed_ticks_missed_total", "Steps that no tick of their own judged.");
  prometheus::Family<prometheus::Histogram>& tick_seconds =
      add(BuildHistogram(), "outcomed_tick_duration_seconds", "Time a tick took.");
  prometheus::Family<prometheus::Histogram>& late_seconds = add(
      BuildHistogram(), "outcomed_tick_lateness_seconds", "Time a tick began after it was due.");
  prometheus::Family<prometheus::Histogram>& fetch_seconds =
      add(BuildHistogram(), "outcomed_fetch_duration_seconds", "Time a fetch from a source took.");
  prometheus::Family<prometheus::Counter>& fetch_errors =
      add(BuildCounter(), "outcomed_fetch_errors_total", "Fetches that failed, by kind of error.");
  prometheus::Family<prometheus::Counter>& buckets =
      add(BuildCounter(), "outcomed_buckets_total", "Steps of signals folded.");
  prometheus::Family<prometheus::Gauge>& watermarks = add(
      BuildGauge(), "outcomed_watermark_timestamp_seconds", "Everything before this is judged.");
  prometheus::Family<prometheus::Counter>& problems =
      add(BuildCounter(), "outcomed_data_problems_total", "Problems of the data, by what.");
  prometheus::Family<prometheus::Gauge>& alert_count =
      add(BuildGauge(), "outcomed_alerts", "Alerts by phase.");
  prometheus::Family<prometheus::Counter>& episodes =
      add(BuildCounter(), "outcomed_episodes_total", "Episodes that fired or resolved.");
  prometheus::Family<prometheus::Gauge>& outbox_rows =
      add(BuildGauge(), "outcomed_outbox_rows", "News waiting to be told.");
  prometheus::Family<prometheus::Gauge>& outbox_age =
      add(BuildGauge(), "outcomed_outbox_oldest_seconds", "Age of the oldest news waiting.");
  prometheus::Family<prometheus::Counter>& deliveries =
      add(BuildCounter(), "outcomed_deliveries_total", "Attempts to tell, by result.");
  prometheus::Family<prometheus::Histogram>& delivery_seconds =
      add(BuildHistogram(), "outcomed_delivery_duration_seconds", "Time an attempt to tell took.");
  prometheus::Family<prometheus::Counter>& commits =
      add(BuildCounter(), "outcomed_store_commits_total", "Commits of the store, by result.");
  prometheus::Family<prometheus::Gauge>& reload_success =
      add(BuildGauge(), "outcomed_config_last_reload_successful",
          "1 if the configuration that was read last is in force.");
  prometheus::Family<prometheus::Gauge>& reload_time =
      add(BuildGauge(), "outcomed_config_last_reload_success_timestamp_seconds",
          "When a configuration was put into force last.");
  prometheus::Family<prometheus::Counter>& warnings =
      add(BuildCounter(), "outcomed_log_warnings_total", "Warnings and errors written to the log.");
  prometheus::Family<prometheus::Gauge>& build =
      add(BuildGauge(), "outcomed_build_info", "1, with the version as a label.");
};

Metrics::Metrics(std::string_view version, Timestamp started)
    : families_(std::make_unique<Families>(seconds(started))) {
  families_->build.Add({{"version", std::string(version)}}).Set(1);
  // What never happened is 0, not absent.
  families_->ticks.Add({});
  families_->missed.Add({});
  families_->warnings.Add({});
  for (const char* phase : {"pending", "firing"}) families_->alert_count.Add({{"phase", phase}});
  for (const char* change : {"fired", "resolved"}) families_->episodes.Add({{"change", change}});
  for (const char* result : {"success", "error"}) families_->commits.Add({{"result", result}});
}

Metrics::~Metrics() = default;

void Metrics::ticked(Duration took, Duration late, std::uint64_t missed) {
  families_->ticks.Add({}).Increment();
  families_->missed.Add({}).Increment(static_cast<double>(missed));
  families_->tick_seconds.Add({}, kSeconds).Observe(seconds(took));
  families_->late_seconds.Add({}, kSeconds).Observe(seconds(late));
}

void Metrics::fetched(const std::string& source, Duration took, std::uint64_t buckets) {
  families_->fetch_seconds.Add({{"source", source}}, kSeconds).Observe(seconds(took));
  families_->buckets.Add({{"source", source}}).Increment(static_cast<double>(buckets));
}

void Metrics::fetch_failed(const std::string& source, ErrorKind kind) {
  families_->fetch_errors.Add({{"source", source}, {"kind", std::string(to_string(kind))}})
      .Increment();
}

void Metrics::watermark(const std::string& source, Timestamp at) {
  families_->watermarks.Add({{"source", source}}).Set(seconds(at));
}

void Metrics::problem(const std::string& source, const std::string& what) {
  families_->problems.Add({{"source", source}, {"what", what}}).Increment();
}

void Metrics::alerts(std::string_view phase, std::size_t count) {
  families_->alert_count.Add({{"phase", std::string(phase)}}).Set(static_cast<double>(count));
}

void Metrics::episode(std::string_view change) {
  families_->episodes.Add({{"change", std::string(change)}}).Increment();
}

void Metrics::outbox(const std::string& receiver, std::size_t rows, Duration oldest) {
  families_->outbox_rows.Add({{"receiver", receiver}}).Set(static_cast<double>(rows));
  families_->outbox_age.Add({{"receiver", receiver}}).Set(seconds(oldest));
}

void Metrics::delivered(const std::string& receiver, std::string_view result, Duration took) {
  families_->deliveries.Add({{"receiver", receiver}, {"result", std::string(result)}}).Increment();
  families_->delivery_seconds.Add({{"receiver", receiver}}, kSeconds).Observe(seconds(took));
}

void Metrics::committed(bool success) {
  families_->commits.Add({{"result", success ? "success" : "error"}}).Increment();
}

void Metrics::reloaded(bool success, Timestamp now) {
  families_->reload_success.Add({}).Set(success ? 1 : 0);
  if (success) families_->reload_time.Add({}).Set(seconds(now));
}

void Metrics::warned() { families_->warnings.Add({}).Increment(); }

std::string Metrics::page() const {
  std::vector<prometheus::MetricFamily> all = families_->registry.Collect();
  for (auto& family : families_->process.Collect()) all.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(all);
}

}  // namespace outcomed
