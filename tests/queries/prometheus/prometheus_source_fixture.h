// A gateway behind a server that answers from memory.
#pragma once

#include <gmock/gmock.h>

#include <numeric>

#include "queries/prometheus/prometheus_source.h"
#include "tests/queries/prometheus/fake_prometheus.h"

namespace outcomed {

inline constexpr std::int64_t kT0 = 1'796'000'040'000;  // On a whole minute.
inline constexpr Duration kStep = 1min;

inline Timestamp at(std::int64_t minutes) { return from_unix_ms(kT0 + minutes * 60'000); }
inline TimeRange range(std::int64_t from, std::int64_t to) { return {at(from), at(to)}; }

inline SignalPlan plan() {
  SignalPlan plan;
  plan.name = "requests";
  plan.step = kStep;
  plan.labels = {"model"};
  const LabelRule labels = [](const Labels& raw) -> std::optional<Labels> {
    return raw.project({"model"});
  };
  plan.terms.push_back({{"failed_total", {}}, 1, true, true, false, labels});
  plan.terms.push_back({{"served_total", {}}, 1, true, false, false, labels});
  return plan;
}

inline PrometheusSettings settings() {
  PrometheusSettings settings;
  settings.url = "http://prom:9090";
  return settings;
}

// One gateway scraped every 15 s for `minutes`; failed_total rises by 1 a scrape, served_total
// by 3.
inline void fill(FakePrometheus& server, std::int64_t minutes) {
  const Labels target{{"job", "gw"}, {"instance", "a:1"}};
  const auto named = [&](const char* name, const char* model) {
    Labels labels = target;
    labels.set("__name__", name);
    labels.set("model", model);
    return labels;
  };
  std::vector<Sample> failed, served, starts, ups;
  for (std::int64_t scrape = -20; scrape <= minutes * 4; ++scrape) {
    const std::int64_t when = kT0 + scrape * 15'000 - 7'000;
    failed.push_back({when, double(100 + scrape)});
    served.push_back({when, double(1000 + 3 * scrape)});
    starts.push_back({when, 1'795'000'000});
    ups.push_back({when, 1});
  }
  server.add(named("failed_total", "judge"), failed);
  server.add(named("served_total", "judge"), served);
  server.add(named("process_start_time_seconds", ""), starts);
  server.add(named("up", ""), ups);
}

inline std::unique_ptr<PrometheusSource> make(HttpClient& http,
                                              PrometheusSettings with = settings()) {
  auto made = PrometheusSource::make(std::move(with), {plan()}, http);
  EXPECT_TRUE(made);
  return *std::move(made);
}

inline std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}
// "n k", summed over the range.
inline std::string counted(const Result<Fetch>& fetch) {
  if (!fetch) return fetch.error().message;
  return std::to_string(sum(fetch->batches[0].n)) + ' ' + std::to_string(sum(fetch->batches[0].k));
}

}  // namespace outcomed
