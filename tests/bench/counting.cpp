// What counting and judging cost without any server: raw samples to buckets (CounterReader),
// buckets to phases of alerts (RuleRunner), the engine of `backtest`. Samples and buckets are made
// here; making the samples is part of what is measured, 2 to 3 ns each.
//   tests/bench/run counting
#include <benchmark/benchmark.h>
#include <fmt/core.h>
#include <malloc.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/null_store.h"
#include "detectors/share/share.h"
#include "queries/counters/counter_reader.h"

namespace outcomed {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr std::int64_t kStart = INT64_C(1'796'000'040'000);
constexpr int kModels = 50;
constexpr int kClasses = 6;
constexpr int kGroups = kModels * kClasses;

SignalPlan plan() {
  SignalPlan plan;
  plan.name = "requests";
  plan.source = "made";
  plan.labels = {"model"};
  plan.failure_labels = {"class"};
  const LabelRule labels = [](const Labels& raw) -> std::optional<Labels> {
    Labels out;
    out.set("model", std::string(raw.get("model")));
    out.set("class", std::string(raw.get("class")));
    return out;
  };
  plan.terms.push_back({{"failed_total", {}}, 1, false, true, false, labels});
  plan.terms.push_back({{"asked_total", {}}, 1, true, false, false, labels});
  return plan;
}

// Of each seven series one counts the requests of a model and six its failures by class; every 350
// have another API key.
struct SeriesLabels {
  std::string key;  // As long as the label object of one of LiteLLM's series.
  Labels labels;
};

std::vector<SeriesLabels> series_of(int count) {
  std::vector<SeriesLabels> all;
  for (int i = 0; i < count; ++i) {
    const int kind = i % (kClasses + 1);
    Labels labels{{"__name__", kind == 0 ? "asked_total" : "failed_total"},
                  {"api_key_alias", fmt::format("team-{}", i / (kGroups + kModels))},
                  {"hashed_api_key", std::string(64, 'a')},
                  {"instance", "127.0.0.1:4000"},
                  {"job", "litellm"},
                  {"model", fmt::format("model-{:03}", i / (kClasses + 1) % kModels)},
                  {"route", "/v1/chat/completions"},
                  {"user", "default_user_id"}};
    if (kind > 0) labels.set("class", fmt::format("Openai.Error{}", kind));
    all.push_back({labels.to_string(), labels});
  }
  return all;
}

// A reader that is fed batch after batch, as a source does it.
class Feed {
 public:
  Feed(int series, int steps, std::int64_t interval_ms)
      : series_(series_of(series)),
        reader_({plan()}),
        values_(series_.size(), 1000),
        steps_(steps),
        interval_ms_(interval_ms) {
    samples_.resize(static_cast<std::size_t>(steps * 60'000 / interval_ms));
    batch();  // Opens the series.
  }

  void batch() {
    reader_.begin({from_unix_ms(begin_), from_unix_ms(begin_ + steps_ * INT64_C(60'000))});
    double up = 1;
    double started = double(kStart) / 1000 - 3600;
    append(up_, up, kNever);
    append(start_, started, kNever);
    for (std::size_t i = 0; i < series_.size(); ++i) {
      append(series_[i], values_[i], kPaces[i % std::size(kPaces)]);
    }
    benchmark::DoNotOptimize(reader_.finish());
    begin_ += steps_ * INT64_C(60'000);
  }

  [[nodiscard]] std::size_t samples() const { return samples_.size() * series_.size(); }

 private:
  // A counter rises in the samples whose number has none of these bits.
  static constexpr std::size_t kPaces[] = {0, 1, 3, 7};
  static constexpr std::size_t kNever = ~std::size_t{0};

  void append(const SeriesLabels& series, double& value, std::size_t pace) {
    std::int64_t at = begin_;
    std::size_t number = 0;
    for (Sample& sample : samples_) {
      at += interval_ms_;
      value += double((++number & pace) == 0);
      sample = {at, value};
    }
    constexpr std::size_t kChunk = 120;  // As they come from remote read.
    const std::span<const Sample> all(samples_);
    const SeriesId id = reader_.open(series.key, [&] { return series.labels; });
    for (std::size_t first = 0; first < all.size(); first += kChunk) {
      reader_.append(id, all.subspan(first, std::min(kChunk, all.size() - first)));
    }
  }

  static SeriesLabels target(std::string_view metric) {
    Labels labels{
        {"__name__", std::string(metric)}, {"instance", "127.0.0.1:4000"}, {"job", "litellm"}};
    return {labels.to_string(), labels};
  }

  std::vector<SeriesLabels> series_;
  SeriesLabels up_ = target(kUpMetric);
  SeriesLabels start_ = target(kProcessStartMetric);
  CounterReader reader_;
  std::vector<double> values_;
  std::vector<Sample> samples_;
  int steps_;
  std::int64_t interval_ms_;
  std::int64_t begin_ = kStart;
};

// "ns_each": time for each of `items` things done in every iteration.
void report(benchmark::State& state, std::size_t items) {
  state.counters["ns_each"] =
      benchmark::Counter(double(items) * 1e-9, benchmark::Counter::kIsIterationInvariantRate |
                                                   benchmark::Counter::kInvert);
}

// A live tick: the last minute of samples, 15 s apart.
void read_live(benchmark::State& state) {
  Feed feed(static_cast<int>(state.range(0)), 1, 15'000);
  for (auto _ : state) feed.batch();
  report(state, feed.samples());
}
BENCHMARK(read_live)->ArgName("series")->Arg(350)->Arg(3'500)->Arg(35'000);

// A backfill: many minutes of 350 series, 60 s apart, in one batch.
void read_span(benchmark::State& state) {
  Feed feed(kGroups + kModels, static_cast<int>(state.range(0)), 60'000);
  for (auto _ : state) feed.batch();
  report(state, feed.samples());
}
BENCHMARK(read_span)->ArgName("minutes")->Arg(60)->Arg(360)->Arg(1'440)->Arg(10'080)->Unit(
    benchmark::kMillisecond);

// ---- judging -----------------------------------------------------------------------------------

std::vector<Labels> cells() {
  std::vector<Labels> cells;
  for (int model = 0; model < kModels; ++model) {
    const std::string name = fmt::format("model-{:03}", model);
    cells.push_back({{"model", name}});
    for (int i = 0; i < kClasses; ++i) {
      cells.push_back({{"model", name}, {"class", fmt::format("Openai.Error{}", i)}});
    }
  }
  return cells;
}

SignalBatch buckets(std::size_t steps) {
  SignalBatch batch;
  batch.range = {from_unix_ms(kStart), from_unix_ms(kStart) + minutes(steps)};
  batch.step = minutes(1);
  batch.coverage.assign(steps, Coverage::complete);
  const std::size_t count = kGroups + kModels;
  batch.n.resize(count * steps);
  batch.k.resize(count * steps);
  for (std::size_t cell = 0; cell < count; ++cell) {
    for (std::size_t step = 0; step < steps; ++step) {
      const bool requests = cell % (kClasses + 1) == 0;
      batch.n[cell * steps + step] = requests ? 40 + std::int64_t((cell + step) % 7) : 0;
      batch.k[cell * steps + step] = requests ? 0 : std::int64_t((cell * 31 + step) % 40 == 0);
    }
  }
  return batch;
}

std::vector<RuleSpec> rules(int count) {
  std::vector<RuleSpec> rules;
  for (int i = 0; i < count; ++i) {
    ShareParams params;
    params.above = 0.1 + 0.001 * i;
    params.hold = minutes(5);
    RuleSpec spec;
    spec.name = fmt::format("rule_{}", i);
    spec.kind = "share";
    spec.signal = "requests";
    spec.by = {"model", "class"};
    spec.detector =
        std::make_shared<ShareDetector>(params, SignalWords{"requests", "failed", minutes(1)});
    rules.push_back(std::move(spec));
  }
  return rules;
}

// Every rule over all groups, so many minutes at once (1: a live tick); ns for each group, rule and
// step.
void fold(benchmark::State& state) {
  const SignalPlan made = plan();
  const std::vector<RuleSpec> specs = rules(static_cast<int>(state.range(0)));
  const std::vector<Labels> labels = cells();
  const auto steps = static_cast<std::size_t>(state.range(1));
  SignalBatch batch = buckets(steps);
  std::vector<std::unique_ptr<RuleRunner>> runners;
  for (const RuleSpec& spec : specs) runners.push_back(std::make_unique<RuleRunner>(spec, made));
  std::vector<RuleEvent> events;
  for (auto _ : state) {
    for (const auto& runner : runners) runner->advance(batch, labels, Timestamp{}, events);
    batch.range = {batch.range.end, batch.range.end + minutes(steps)};
    events.clear();
  }
  report(state, specs.size() * kGroups * steps);
}
BENCHMARK(fold)
    ->ArgNames({"rules", "minutes"})
    ->Args({1, 1})
    ->Args({10, 1})
    ->Args({100, 1})
    ->Args({1, 60})
    ->Args({10, 60})
    ->Unit(benchmark::kMicrosecond);

// Buckets out of memory.
class PreparedSource final : public Source {
 public:
  Result<Fetch> fetch(TimeRange range) override {
    const auto steps = static_cast<std::size_t>(range.length() / minutes(1));
    if (batch_.steps() != steps) batch_ = buckets(steps);
    batch_.range = range;
    Fetch fetch;
    fetch.batches = {batch_};
    return fetch;
  }
  [[nodiscard]] const std::vector<Labels>& cells(std::size_t) const override { return cells_; }
  void save(Writer&) const override {}
  bool load(Reader&) override { return true; }

 private:
  std::vector<Labels> cells_ = outcomed::cells();
  SignalBatch batch_;
};

// A day through the engine of `backtest`; ns for each group, rule and step.
void replay_day(benchmark::State& state) {
  const int count = static_cast<int>(state.range(0));
  NullStore store;
  const auto announcer = std::make_shared<const Announcer>(Route{}, std::vector<QueuedPart>{},
                                                           std::map<std::string, Labels>{}, "");
  Timestamp begin = from_unix_ms(kStart);
  EngineSettings settings;
  settings.chunk_values = 4'000'000;  // As in `outcomed backtest`.
  Engine engine({{"made", std::make_shared<PreparedSource>(), {}, {plan()}}}, rules(count),
                announcer, settings, store, [] { return std::chrono::steady_clock::time_point(); });
  for (auto _ : state) {
    if (!engine.replay({begin, begin + hours(24)}, [](double) {})) state.SkipWithError("replay");
    begin += hours(24);
  }
  report(state, static_cast<std::size_t>(count) * kGroups * 24 * 60);
}
BENCHMARK(replay_day)->ArgName("rules")->Arg(1)->Arg(10)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace outcomed

int main(int argc, char** argv) {
  // As in `outcomed backtest`: pages of a batch are kept for the next one.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
