// Against Debian's Prometheus itself, put in place by tests/peers.sh.
#include "tests/queries/prometheus/real_server_data.h"

namespace outcomed {
namespace {

using testing::ChildProcess;
using testing::missing_peer;
using testing::PeerFolder;
using testing::peers_folder;
using testing::PeerServer;
using testing::PlainHttpClient;

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

TEST_F(RealPrometheus, JobsOfCountersAreFound) { expect_jobs(settings(), http_); }

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

}  // namespace
}  // namespace outcomed
