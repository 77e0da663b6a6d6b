// What the tests against real servers put into them: restarts, births, missed scrapes and stale
// series; and how they count what comes back.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <snappy.h>

#include <bit>
#include <numeric>
#include <random>

#include "queries/prometheus/prometheus_source.h"
#include "tests/queries/prometheus/collecting_sink.h"
#include "tests/queries/prometheus/remote_messages.h"
#include "tests/support/peer_process.h"
#include "tests/support/plain_http_client.h"

namespace outcomed {

inline constexpr std::uint64_t kStaleBits = 0x7ff0000000000002;
inline constexpr std::int64_t kMinute = 60'000;
inline constexpr std::int64_t kStart =
    INT64_C(1'795'996'800'000);  // Divisible by two hours: a block begins.
inline constexpr std::int64_t kBlocksEnd = kStart + 26 * 60 * kMinute;
inline constexpr std::int64_t kEnd = kBlocksEnd + 40 * kMinute;

inline bool is_stale(double value) { return std::bit_cast<std::uint64_t>(value) == kStaleBits; }

using Data = std::map<Labels, std::vector<Sample>>;

// Two gateways, scraped once a minute with jitter, whose counters are born late, reset with their
// process, miss scrapes and go stale while the process is away.
inline Data make_data() {
  Data data;
  std::mt19937 random(42);
  for (const char* instance : {"a:4000", "b:4000"}) {
    const auto named = [&](const std::string& name, const std::string& model = "") {
      Labels labels{{"__name__", name}, {"job", "gw"}, {"instance", instance}};
      labels.set("model", model);
      return labels;
    };
    std::map<Labels, double> counters;
    double process = double(kStart) / 1000 - 500;
    int away = 0;
    for (std::int64_t minute = 1; kStart + minute * kMinute < kEnd; ++minute) {
      const std::int64_t at = kStart + minute * kMinute + static_cast<std::int64_t>(random() % 3);
      const Labels up = named("up");
      const Labels start = named("process_start_time_seconds");
      if (away > 0) {
        --away;
        data[up].push_back({at, 0});
        continue;
      }
      // Away for some scrapes, and back as another process; once for sure after the blocks.
      if (random() % 150 == 0 || minute == 26 * 60 + 8) {
        away = static_cast<int>(1 + random() % 10);
        process = double(at) / 1000 + 30;
        const double stale = std::bit_cast<double>(kStaleBits);
        for (const auto& [labels, value] : counters) data[labels].push_back({at, stale});
        data[start].push_back({at, stale});
        data[up].push_back({at, 0});
        counters.clear();
        continue;
      }
      for (const char* model : {"judge", "gpt \"4\"\\o", "модель"}) {
        const std::uint32_t kind = random() % 8;
        if (kind < 6) counters[named("served_total", model)] += double(random() % 40);
        if (kind == 7) counters[named("failed_total", model)] += double(1 + random() % 5);
      }
      for (const auto& [labels, value] : counters) data[labels].push_back({at, value});
      data[start].push_back({at, process});
      data[up].push_back({at, 1});
    }
  }
  data[Labels{{"__name__", "other_ratio"}, {"job", "gw"}}] = {
      {kStart + 1, 0.1},
      {kStart + 2, 1e-300},
      {kStart + 3, std::nan("")},
      {kStart + 4, INFINITY},
      {kStart + 5, -1.7976931348623157e308},
      {kStart + 10'000'000, 12345678901234568.0}};
  return data;
}

// OpenMetrics can't say "stale": those samples are left out of blocks.
inline std::string open_metrics(const Data& data) {
  std::string text;
  std::string family;
  for (const auto& [labels, samples] : data) {
    const std::string name(labels.get("__name__"));
    const bool counter = name.ends_with("_total");
    if (family != name) {
      family = name;
      text += "# TYPE " +
              (counter ? name.substr(0, name.size() - 6) + " counter" : name + " gauge") + '\n';
    }
    Labels rest = labels;
    rest.erase("__name__");
    std::string braces;
    for (const auto& [label, value] : rest.pairs()) {
      std::string escaped;
      for (const char c : value) escaped += (c == '"' || c == '\\' ? std::string("\\") : "") + c;
      braces += (braces.empty() ? "" : ",") + label + "=\"" + escaped + '"';
    }
    for (const Sample& sample : samples) {
      if (sample.at_ms >= kBlocksEnd || is_stale(sample.value)) continue;
      text +=
          name + '{' + braces + "} " +
          fmt::format("{:.17g} {}.{:03}", sample.value, sample.at_ms / 1000, sample.at_ms % 1000) +
          '\n';
    }
  }
  return text + "# EOF\n";
}

// What is younger than the blocks comes by remote write, which keeps stale markers.
inline std::string remote_write(const Data& data) {
  ProtoWriter request;
  for (const auto& [labels, samples] : data) {
    std::vector<Sample> head;
    for (const Sample& sample : samples) {
      if (sample.at_ms >= kBlocksEnd) head.push_back(sample);
    }
    if (!head.empty()) request.bytes(1, plain_series(labels.pairs(), head));
  }
  std::string body;
  snappy::Compress(request.message().data(), request.message().size(), &body);
  return body;
}

// Samples as texts by label set, without stale markers.
inline std::map<std::string, std::vector<std::string>> without_stale(const CollectingSink& sink) {
  std::map<std::string, std::vector<std::string>> all;
  for (const auto& one : sink.series) {
    auto& texts = all[one.labels.to_string()];
    for (const Sample& sample : one.samples) {
      if (is_stale(sample.value)) continue;
      texts.push_back(fmt::format("{}={:.17g}", sample.at_ms,
                                  std::isnan(sample.value) ? std::nan("") : sample.value));
    }
    if (texts.empty()) all.erase(one.labels.to_string());
  }
  return all;
}

inline std::size_t stale_count(const CollectingSink& sink) {
  std::size_t count = 0;
  for (const auto& one : sink.series) {
    for (const Sample& sample : one.samples) count += is_stale(sample.value);
  }
  return count;
}

inline SignalPlan plan() {
  SignalPlan plan;
  plan.name = "requests";
  plan.labels = {"model"};
  const LabelRule labels = [](const Labels& raw) -> std::optional<Labels> {
    return raw.project({"model"});
  };
  plan.terms.push_back({{"failed_total", {}}, 1, true, true, false, labels});
  plan.terms.push_back({{"served_total", {}}, 1, true, false, false, labels});
  return plan;
}

inline const Question kEverything{
    {"failed_total", "other_ratio", "process_start_time_seconds", "served_total", "up"}, {}};

// Steps of the whole time: long ranges one way, then single minutes, and the sum of all.
struct Counted {
  std::vector<std::int64_t> n;
  std::vector<std::int64_t> k;
  std::vector<Coverage> coverage;
  friend bool operator==(const Counted&, const Counted&) = default;

  // Where two counts differ, for messages.
  [[nodiscard]] std::string difference(const Counted& other) const {
    std::string text;
    const auto compare = [&](const char* what, const auto& a, const auto& b) {
      if (a.size() != b.size()) text += fmt::format("{} sizes {} {}; ", what, a.size(), b.size());
      for (std::size_t i = 0; i < std::min(a.size(), b.size()) && text.size() < 500; ++i) {
        if (a[i] == b[i]) continue;
        text +=
            fmt::format("{}[{} of step {}] {} {}; ", what, i / coverage.size(), i % coverage.size(),
                        static_cast<std::int64_t>(a[i]), static_cast<std::int64_t>(b[i]));
      }
    };
    compare("coverage", coverage, other.coverage);
    compare("n", n, other.n);
    compare("k", k, other.k);
    return text;
  }
};

// Reads the whole time in ranges of `length`; cells are put in the order of their labels.
inline Counted count_all(PrometheusSource& source, Duration length) {
  std::map<Labels, std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>> cells;
  Counted counted;
  for (Timestamp begin = from_unix_ms(kStart); begin < from_unix_ms(kEnd); begin += length) {
    const Timestamp end = std::min(begin + length, from_unix_ms(kEnd));
    const auto fetch = source.fetch({begin, end});
    if (!fetch) {
      ADD_FAILURE() << fetch.error().message;
      return counted;
    }
    const SignalBatch& batch = fetch->batches[0];
    counted.coverage.insert(counted.coverage.end(), batch.coverage.begin(), batch.coverage.end());
    for (std::size_t cell = 0; cell < source.cells(0).size(); ++cell) {
      auto& [n, k] = cells[source.cells(0)[cell]];
      n.resize(counted.coverage.size());
      k.resize(counted.coverage.size());
      for (std::size_t step = 0; step < batch.steps(); ++step) {
        const std::size_t to = counted.coverage.size() - batch.steps() + step;
        n[to] = batch.n[cell * batch.steps() + step];
        k[to] = batch.k[cell * batch.steps() + step];
      }
    }
  }
  for (auto& [labels, values] : cells) {
    values.first.resize(counted.coverage.size());
    values.second.resize(counted.coverage.size());
    counted.n.insert(counted.n.end(), values.first.begin(), values.first.end());
    counted.k.insert(counted.k.end(), values.second.begin(), values.second.end());
  }
  return counted;
}

inline Counted count_all(const PrometheusSettings& settings, HttpClient& http, Duration length) {
  auto source = PrometheusSource::make(settings, {plan()}, http);
  return count_all(**source, length);
}

inline std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

// The counters' jobs, and none of a counter that isn't there.
inline void expect_jobs(const PrometheusSettings& settings, HttpClient& http) {
  PrometheusApi api(settings, http);
  const auto jobs =
      api.label_values("job", {"failed_total", "served_total{model=\"judge\"}"}, {kStart, kEnd});
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_EQ(*jobs, std::vector<std::string>{"gw"});
  const auto none = api.label_values("job", {"absent_total"}, {kStart, kEnd});
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->empty());
}

}  // namespace outcomed
