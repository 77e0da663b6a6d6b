// Against Debian's VictoriaMetrics itself, put in place by tests/peers.sh.
#include "tests/queries/prometheus/real_server_data.h"

namespace outcomed {
namespace {

using testing::missing_peer;
using testing::PeerServer;
using testing::PlainHttpClient;
using testing::wait_until;

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

TEST_F(RealVictoriaMetrics, JobsOfCountersAreFound) { expect_jobs(settings(), http_); }

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
