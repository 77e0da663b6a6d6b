// Against the servers themselves: Debian's Prometheus and VictoriaMetrics, put in place by
// tests/peers.sh. The data has restarts, births, missed scrapes and stale series.
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
namespace {

using testing::ChildProcess;
using testing::missing_peer;
using testing::PeerFolder;
using testing::peers_folder;
using testing::PeerServer;
using testing::PlainHttpClient;
using testing::wait_until;

constexpr std::uint64_t kStaleBits = 0x7ff0000000000002;
constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kStart =
    INT64_C(1'795'996'800'000);  // Divisible by two hours: a block begins.
constexpr std::int64_t kBlocksEnd = kStart + 26 * 60 * kMinute;
constexpr std::int64_t kEnd = kBlocksEnd + 40 * kMinute;

bool is_stale(double value) { return std::bit_cast<std::uint64_t>(value) == kStaleBits; }

using Data = std::map<Labels, std::vector<Sample>>;

// Two gateways, scraped once a minute with jitter, whose counters are born late, reset with their
// process, miss scrapes and go stale while the process is away.
Data make_data() {
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
std::string open_metrics(const Data& data) {
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
std::string remote_write(const Data& data) {
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
std::map<std::string, std::vector<std::string>> without_stale(const CollectingSink& sink) {
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

std::size_t stale_count(const CollectingSink& sink) {
  std::size_t count = 0;
  for (const auto& one : sink.series) {
    for (const Sample& sample : one.samples) count += is_stale(sample.value);
  }
  return count;
}

class RealPrometheus : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    missing_ = missing_peer("prometheus");
    if (missing_.empty()) missing_ = missing_peer("promtool");
    if (!missing_.empty()) return;
    data_ = new Data(make_data());
    folder_ = new PeerFolder();
    std::ofstream(*folder_ / "data.om") << open_metrics(*data_);
    std::ofstream(*folder_ / "prometheus.yml")
        << "global: {external_labels: {cluster: eu, replica: b}}\n";
    ChildProcess promtool({(peers_folder() / "bin/promtool").string(), "tsdb", "create-blocks-from",
                           "openmetrics", *folder_ / "data.om", *folder_ / "tsdb"},
                          *folder_ / "promtool.log");
    if (promtool.wait() != 0) {
      missing_ = "promtool failed: " + testing::read_file(*folder_ / "promtool.log");
      return;
    }
    server_ = new PeerServer(
        "prometheus",
        {"--config.file=" + *folder_ / "prometheus.yml", "--storage.tsdb.path=" + *folder_ / "tsdb",
         "--web.listen-address=127.0.0.1:{port}", "--web.enable-remote-write-receiver",
         "--web.route-prefix=/prom"},
        "/prom/-/ready");
    if (!server_->up()) {
      missing_ = "prometheus did not come up: " + server_->log_text();
      return;
    }
    const auto written =
        server_->send("POST", "/prom/api/v1/write", remote_write(*data_),
                      {{"Content-Encoding", "snappy"}, {"Content-Type", "application/x-protobuf"}});
    if (written.status != 204) missing_ = "remote write: " + written.body;
  }
  static void TearDownTestSuite() {
    delete std::exchange(server_, nullptr);
    delete std::exchange(folder_, nullptr);
    delete std::exchange(data_, nullptr);
  }
  void SetUp() override { ASSERT_EQ(missing_, ""); }

  static PrometheusSettings settings() {
    PrometheusSettings settings;
    settings.url = server_->url() + "/prom/";
    return settings;
  }

  static inline std::string missing_;
  static inline Data* data_ = nullptr;
  static inline PeerFolder* folder_ = nullptr;
  static inline PeerServer* server_ = nullptr;
  PlainHttpClient http_;
};

SignalPlan plan() {
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

const Question kEverything{
    {"failed_total", "other_ratio", "process_start_time_seconds", "served_total", "up"}, {}};

TEST_F(RealPrometheus, RemoteReadAndTheQueryApiGiveTheSameSamples) {
  const PrometheusSettings with = settings();
  PrometheusApi api(with, http_);
  CollectingSink queried;
  const Duration length(kEnd - kStart);
  const auto info =
      api.query(kEverything.range_selector(length), from_unix_ms(kEnd), ReplyType::matrix, queried);
  ASSERT_TRUE(info) << info.error().message;

  CollectingSink read;
  const SampleSpan span{kStart, kEnd};
  RemoteReadDecoder decoder(read, span, {{"cluster", "eu"}, {"replica", "b"}});
  const Status status = api.remote_read({{span, kEverything.all_matchers()}}, decoder);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(without_stale(read), without_stale(queried));
  EXPECT_GT(stale_count(read), 0U);
  EXPECT_GT(decoder.totals().chunks, decoder.totals().series);
  EXPECT_GT(decoder.totals().samples, 10'000U);

  // And both are what was put in.
  CollectingSink put;
  for (const auto& [labels, samples] : *data_) {
    put.append(put.open(labels.to_string(), [&] { return labels; }), samples);
  }
  EXPECT_EQ(without_stale(read), without_stale(put));
}

TEST_F(RealPrometheus, SpansAreCutToTheMillisecond) {
  const PrometheusSettings with = settings();
  PrometheusApi api(with, http_);
  const Question question{{"up"}, {}};
  for (const std::int64_t begin : {kStart + 90 * kMinute + 1, kBlocksEnd - 3 * kMinute}) {
    const SampleSpan span{begin, begin + 7 * kMinute};
    CollectingSink queried;
    CollectingSink read;
    // Closed at both ends in Prometheus 2.
    ASSERT_TRUE(api.query(question.range_selector(7min), from_unix_ms(span.end_ms),
                          ReplyType::matrix, queried));
    RemoteReadDecoder decoder(read, span, {{"cluster", "eu"}, {"replica", "b"}});
    ASSERT_TRUE(api.remote_read({{span, question.all_matchers()}}, decoder));
    EXPECT_EQ(without_stale(read), without_stale(queried));
    EXPECT_GT(read.sample_count(), 0U);
  }
}

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
Counted count_all(PrometheusSource& source, Duration length) {
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

Counted count_all(const PrometheusSettings& settings, HttpClient& http, Duration length) {
  auto source = PrometheusSource::make(settings, {plan()}, http);
  return count_all(**source, length);
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

TEST_F(RealPrometheus, EveryWayOfReadingCountsTheSame) {
  PrometheusSettings with = settings();
  const Counted live = count_all(with, http_, 5min);
  EXPECT_GT(sum(live.n), 10'000);
  EXPECT_GT(sum(live.k), 1000);
  with.backfill = "remote_read";
  EXPECT_EQ(live.difference(count_all(with, http_, 13h)), "");
  EXPECT_EQ(live.difference(count_all(with, http_, 16min)), "");
  with.backfill = "range";
  EXPECT_EQ(live.difference(count_all(with, http_, 13h)), "");
  with.backfill = "auto";
  EXPECT_EQ(live.difference(count_all(with, http_, 13h)), "");
  with.matchers = {*Matcher::parse(R"(instance=~"(a|b):4000")")};
  with.max_bytes = 64 * 1024;
  with.backfill = "range";
  EXPECT_EQ(live.difference(count_all(with, http_, 6h)), "");
}

TEST_F(RealPrometheus, BackfillGoesOverIntoLiveQueriesWithoutASeam) {
  const PrometheusSettings with = settings();
  const Counted live = count_all(with, http_, 5min);
  auto source = *PrometheusSource::make(with, {plan()}, http_);
  const Timestamp seam = from_unix_ms(kBlocksEnd);
  const auto before = source->fetch({from_unix_ms(kStart), seam});
  ASSERT_TRUE(before) << before.error().message;
  std::int64_t n = sum(before->batches[0].n);
  std::int64_t k = sum(before->batches[0].k);
  for (Timestamp at = seam; at < from_unix_ms(kEnd); at += 1min) {
    const auto minute = source->fetch({at, at + 1min});
    ASSERT_TRUE(minute) << minute.error().message;
    n += sum(minute->batches[0].n);
    k += sum(minute->batches[0].k);
  }
  EXPECT_EQ(n, sum(live.n));
  EXPECT_EQ(k, sum(live.k));
}

TEST_F(RealPrometheus, JobsOfCountersAreFound) {
  const PrometheusSettings with = settings();
  PrometheusApi api(with, http_);
  const auto jobs =
      api.label_values("job", {"failed_total", "served_total{model=\"judge\"}"}, {kStart, kEnd});
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_EQ(*jobs, std::vector<std::string>{"gw"});
  const auto none = api.label_values("job", {"absent_total"}, {kStart, kEnd});
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->empty());
}

TEST_F(RealPrometheus, ItsErrorsAreTyped) {
  const PrometheusSettings with = settings();
  PrometheusApi api(with, http_);
  CollectingSink sink;
  const Timestamp at = from_unix_ms(kEnd);
  const auto kind = [&](const std::string& promql) {
    const auto info = api.query(promql, at, ReplyType::matrix, sink);
    EXPECT_FALSE(info) << promql;
    return info ? std::string("none") : std::string(to_string(info.error().kind));
  };
  EXPECT_EQ(kind("sum("), "rejected");
  EXPECT_EQ(kind("a[0s]"), "rejected");
  EXPECT_EQ(kind("1"), "unsupported");
  EXPECT_EQ(kind("up"), "unsupported");
  EXPECT_EQ(kind("\"text\""), "unsupported");

  PrometheusSettings wrong = settings();
  wrong.url = server_->url() + "/nowhere";
  PrometheusApi lost(wrong, http_);
  const auto info = lost.query("up[1m]", at, ReplyType::matrix, sink);
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().kind, ErrorKind::rejected);
  EXPECT_NE(info.error().message.find("/nowhere/api/v1/query: HTTP 404"), std::string::npos)
      << info.error().message;
}

// ---- VictoriaMetrics -------------------------------------------------------------------------

class RealVictoriaMetrics : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    missing_ = missing_peer("victoria-metrics");
    if (!missing_.empty()) return;
    data_ = new Data(make_data());
    server_ = new PeerServer("victoria-metrics",
                             {"-storageDataPath={folder}/vm", "-httpListenAddr=127.0.0.1:{port}",
                              "-retentionPeriod=100y", "-loggerLevel=ERROR"},
                             "/health");
    if (!server_->up()) {
      missing_ = "victoria-metrics did not come up: " + server_->log_text();
      return;
    }
    ProtoWriter request;
    for (const auto& [labels, samples] : *data_)
      request.bytes(1, plain_series(labels.pairs(), samples));
    std::string body;
    snappy::Compress(request.message().data(), request.message().size(), &body);
    const auto written =
        server_->send("POST", "/api/v1/write", body, {{"Content-Encoding", "snappy"}});
    if (written.status / 100 != 2) missing_ = "remote write: " + written.body;
    server_->get("/internal/force_flush");
  }
  static void TearDownTestSuite() {
    delete std::exchange(server_, nullptr);
    delete std::exchange(data_, nullptr);
  }
  void SetUp() override { ASSERT_EQ(missing_, ""); }

  static PrometheusSettings settings() {
    PrometheusSettings settings;
    settings.url = server_->url();
    return settings;
  }

  static inline std::string missing_;
  static inline Data* data_ = nullptr;
  static inline PeerServer* server_ = nullptr;
  PlainHttpClient http_;
};

TEST_F(RealVictoriaMetrics, ExportAndTheQueryApiGiveTheSameSamplesStaleOnesIncluded) {
  const PrometheusSettings with = settings();
  PrometheusApi api(with, http_);
  const Question question{{"failed_total", "process_start_time_seconds", "served_total", "up"}, {}};
  CollectingSink queried;
  const auto info = api.query(question.range_selector(Duration(kEnd - kStart)), from_unix_ms(kEnd),
                              ReplyType::matrix, queried);
  ASSERT_TRUE(info) << info.error().message;
  CollectingSink exported;
  const SampleSpan span{kStart, kEnd};
  VmExportDecoder decoder(exported, span);
  const Status status = api.export_lines({question.selector()}, span, decoder);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(exported.by_labels(), queried.by_labels());
  CollectingSink put;
  for (const auto& [labels, samples] : *data_) {
    if (labels.get("__name__") == "other_ratio") continue;
    put.append(put.open(labels.to_string(), [&] { return labels; }), samples);
  }
  EXPECT_EQ(exported.by_labels(), put.by_labels());
  EXPECT_GT(stale_count(put), 0U);
}

TEST_F(RealVictoriaMetrics, EveryWayOfReadingCountsTheSame) {
  PrometheusSettings with = settings();
  const Counted live = count_all(with, http_, 5min);
  EXPECT_GT(sum(live.n), 10'000);
  with.backfill = "auto";
  EXPECT_EQ(live.difference(count_all(with, http_, 13h)), "");
  with.backfill = "export";
  EXPECT_EQ(live.difference(count_all(with, http_, 16min)), "");
  with.backfill = "range";
  EXPECT_EQ(live.difference(count_all(with, http_, 13h)), "");
}

TEST_F(RealVictoriaMetrics, JobsOfCountersAreFound) {
  const PrometheusSettings with = settings();
  PrometheusApi api(with, http_);
  const auto jobs =
      api.label_values("job", {"failed_total", "served_total{model=\"judge\"}"}, {kStart, kEnd});
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_EQ(*jobs, std::vector<std::string>{"gw"});
  const auto none = api.label_values("job", {"absent_total"}, {kStart, kEnd});
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->empty());
}

// Older versions move questions about the last 30 s into the past unless told otherwise.
TEST_F(RealVictoriaMetrics, TheNewestSamplesAreSeen) {
  const auto now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  const std::int64_t at = unix_ms(now) - 5000;
  const std::string line = R"({"metric":{"__name__":"fresh_total"},"values":[7],"timestamps":[)" +
                           std::to_string(at) + "]}\n";
  ASSERT_EQ(server_->send("POST", "/api/v1/import", line, {}).status, 204);
  server_->get("/internal/force_flush");
  const PrometheusSettings with = settings();
  PrometheusApi api(with, http_);
  ASSERT_TRUE(wait_until(
      [&] {
        CollectingSink sink;
        const auto info = api.query("fresh_total[1m]", now, ReplyType::matrix, sink);
        return info && sink.sample_count() == 1 && sink.series[0].samples[0] == Sample{at, 7};
      },
      std::chrono::seconds(10)));  // Before the 30 s are over by themselves.
}

}  // namespace
}  // namespace outcomed
