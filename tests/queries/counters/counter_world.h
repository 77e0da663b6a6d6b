// A model that knows the true events: counters of one gateway with births, restarts and missed
// scrapes, and what an exact reader must make of them. Seeded; no clock.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "queries/counters/counter_reader.h"

namespace outcomed::testing {

inline SignalPlan plain_plan(Duration step = std::chrono::minutes(1)) {
  SignalPlan plan;
  plan.name = "requests";
  plan.step = step;
  plan.labels = {"model"};
  plan.failure_labels = {"code"};
  const LabelRule labels = [](const Labels& raw) -> std::optional<Labels> {
    Labels out;
    out.set("model", std::string(raw.get("model")));
    out.set("code", std::string(raw.get("code")));
    return out;
  };
  plan.terms.push_back({{"failed_total", {}}, 1, true, true, false, labels});
  plan.terms.push_back({{"served_total", {}}, 1, true, false, false, labels});
  return plan;
}

struct WorldOptions {
  bool exposes_start = true;
  double restart_chance = 0.02;  // Per scrape.
  double missed_chance = 0.05;   // Per scrape; gaps of several happen.
  std::int64_t interval_ms = 15'000;
  int scrapes = 400;
  int series = 6;
};

class CounterWorld {
 public:
  CounterWorld(std::uint64_t seed, WorldOptions options) : random_(seed), options_(options) {
    run();
  }

  // Appends all samples with from < at <= to (and those `lookback_ms` before) to the reader.
  void feed(CounterReader& reader, std::int64_t from, std::int64_t to) const {
    for (const auto& [key, samples] : samples_) {
      std::vector<Sample> part;
      for (const Sample& sample : samples) {
        if (sample.at_ms > from && sample.at_ms <= to) part.push_back(sample);
      }
      if (part.empty()) continue;
      const SeriesId id = reader.open(key.to_string(), [&] { return key; });
      reader.append(id, part);
    }
  }

  // Observable rises by step of the minute grid: cell labels -> step start -> count.
  std::map<std::pair<Labels, std::int64_t>, std::int64_t> expected_k;
  std::map<std::pair<Labels, std::int64_t>, std::int64_t> expected_n;
  std::int64_t begin_ms = 0;
  std::int64_t end_ms = 0;

 private:
  struct Counter {
    Labels labels;
    bool failure = false;
    double value = 0;    // In the present process.
    bool shown = false;  // It exists once it was incremented.
    double seen = 0;     // Value at the last successful scrape of the present process.
  };

  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(random_) < p; }

  void run() {
    begin_ms = 1'796'000'040'000;
    std::int64_t now = begin_ms;
    double start = double(begin_ms) / 1000 - 3600;
    std::vector<Counter> counters;
    for (int i = 0; i < options_.series; ++i) {
      Counter counter;
      counter.failure = i % 2 == 0;
      counter.labels.set("__name__", counter.failure ? "failed_total" : "served_total");
      counter.labels.set("model", "m" + std::to_string(i / 2));
      if (counter.failure) counter.labels.set("code", std::to_string(500 + i));
      counter.labels.set("job", "gateway");
      counter.labels.set("instance", "a:1");
      if (chance(0.4)) {  // Already there, with a past that must not be counted.
        counter.value = std::floor(std::uniform_real_distribution<double>(1, 1e6)(random_));
        counter.shown = true;
      }
      counters.push_back(counter);
    }
    bool first = true;
    for (int i = 0; i < options_.scrapes; ++i) {
      now += options_.interval_ms + std::uniform_int_distribution<int>(-40, 40)(random_);
      if (!first && chance(options_.restart_chance)) {
        start = double(now - 5'000) / 1000;
        for (Counter& counter : counters) {
          counter.value = 0;
          counter.shown = false;
          counter.seen = 0;
        }
      }
      for (Counter& counter : counters) {
        if (!chance(0.5)) continue;
        counter.value += std::uniform_int_distribution<int>(1, 30)(random_);
        counter.shown = true;
      }
      if (!first && chance(options_.missed_chance)) continue;
      scrape(counters, now, start, first);
      first = false;
    }
    end_ms = now;
  }

  void scrape(std::vector<Counter>& counters, std::int64_t now, double start, bool first) {
    Labels up{{"__name__", "up"}, {"job", "gateway"}, {"instance", "a:1"}};
    samples_[up].push_back({now, 1});
    if (options_.exposes_start) {
      Labels process = up;
      process.set("__name__", "process_start_time_seconds");
      samples_[process].push_back({now, start});
    }
    const std::int64_t step = (now - 1) / 60'000 * 60'000;
    for (Counter& counter : counters) {
      if (!counter.shown) continue;
      samples_[counter.labels].push_back({now, counter.value});
      const auto rise = static_cast<std::int64_t>(counter.value - counter.seen);
      counter.seen = counter.value;
      if (first || rise == 0) continue;  // What stood there at first sight is the past.
      const Labels n_cell{{"model", std::string(counter.labels.get("model"))}};
      expected_n[{n_cell, step}] += rise;
      if (!counter.failure) continue;
      Labels k_cell = n_cell;
      k_cell.set("code", std::string(counter.labels.get("code")));
      expected_k[{k_cell, step}] += rise;
    }
  }

  std::mt19937_64 random_;
  WorldOptions options_;
  std::map<Labels, std::vector<Sample>> samples_;
};

using Counts = std::map<std::pair<Labels, std::int64_t>, std::int64_t>;

inline void add_counts(const CounterReader& reader, const Fetch& fetch, Counts& n, Counts& k) {
  const SignalBatch& batch = fetch.batches.front();
  const auto& cells = reader.cells(0);
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    for (std::size_t step = 0; step < batch.steps(); ++step) {
      const std::int64_t start =
          unix_ms(batch.range.begin + batch.step * static_cast<std::int64_t>(step));
      const std::size_t at = cell * batch.steps() + step;
      if (batch.n[at] != 0) n[{cells[cell], start}] += batch.n[at];
      if (batch.k[at] != 0) k[{cells[cell], start}] += batch.k[at];
    }
  }
}

}  // namespace outcomed::testing
