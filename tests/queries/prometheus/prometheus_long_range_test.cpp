// Days at once: remote_read, export, range selectors.
#include "tests/queries/prometheus/prometheus_source_fixture.h"

namespace outcomed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(PrometheusSource, ALongRangeComesByRemoteReadAndLiveQueriesGoOnExactly) {
  for (const Labels& external : {Labels{}, Labels{{"cluster", "eu"}, {"replica", "b"}}}) {
    FakePrometheus server;
    fill(server, 100);
    server.offers_remote_read = true;
    server.external = external;
    const auto source = make(server);
    EXPECT_EQ(counted(source->fetch(range(0, 60))), "960 240");
    EXPECT_EQ(counted(source->fetch(range(60, 90))), "480 120");
    EXPECT_EQ(counted(source->fetch(range(90, 91))), "16 4");
    EXPECT_EQ(source->cells(0).size(), 1U);
    EXPECT_THAT(
        server.samples_asked(),
        ElementsAre(
            R"(POST /api/v1/query topk(1, {__name__=~"failed_total|served_total"}) 1796003640.000)",
            "POST /api/v1/read", "POST /api/v1/read", "POST /api/v1/read",
            R"(POST /api/v1/query {__name__=~"failed_total|served_total"}[1m] 1796005500.000)",
            R"(POST /api/v1/query {__name__=~"process_start_time_seconds|up",job=~"gw"}[1m] 1796005500.000)"));
  }
}

TEST(PrometheusSource, VictoriaMetricsIsReadByExport) {
  FakePrometheus server;
  fill(server, 100);
  server.offers_export = true;
  PrometheusSettings with = settings();
  with.matchers = {*Matcher::parse(R"(job="gw")")};
  const auto source = make(server, with);
  EXPECT_EQ(counted(source->fetch(range(0, 60))), "960 240");
  EXPECT_EQ(counted(source->fetch(range(60, 90))), "480 120");
  EXPECT_EQ(counted(source->fetch(range(90, 91))), "16 4");
  const auto asked = server.samples_asked();
  ASSERT_EQ(asked.size(), 6U);
  EXPECT_THAT(asked[0], HasSubstr("topk"));
  EXPECT_THAT(asked[1], StartsWith("POST /api/v1/read"));
  EXPECT_EQ(
      asked[2],
      R"(POST /api/v1/export {__name__=~"failed_total|served_total",job="gw"})"
      R"( {__name__=~"process_start_time_seconds|up",job="gw",job=~"gw"} 1795999740.000 1796003640.000)");
  // Once refused, remote read isn't tried again.
  EXPECT_THAT(asked[3], StartsWith("POST /api/v1/export"));
}

TEST(PrometheusSource, OtherServersAreReadByRangeSelectorsPieceByPiece) {
  FakePrometheus server;
  fill(server, 400);
  const auto source = make(server);
  EXPECT_EQ(counted(source->fetch(range(0, 300))), "4800 1200");
  server.journal.clear();
  EXPECT_EQ(counted(source->fetch(range(300, 390))), "1440 360");
  const auto asked = server.samples_asked();
  ASSERT_EQ(asked.size(), 4U);
  EXPECT_THAT(asked[0], HasSubstr("[1h]"));
  EXPECT_THAT(asked[2], HasSubstr("[30m]"));
}

TEST(PrometheusSource, WithoutASeriesToCompareRemoteReadIsNotTrusted) {
  FakePrometheus server;
  fill(server, 20);  // Nothing at the end of the range.
  server.offers_remote_read = true;
  const auto source = make(server);
  EXPECT_EQ(counted(source->fetch(range(0, 60))), "320 80");
  EXPECT_THAT(server.samples_asked(), ::testing::Contains(HasSubstr("[1h]")));
}

TEST(PrometheusSource, AGivenWayIsTheOnlyOneTried) {
  for (const char* way : {"remote_read", "export"}) {
    FakePrometheus server;
    fill(server, 100);
    PrometheusSettings with = settings();
    with.backfill = way;
    const auto fetch = make(server, with)->fetch(range(0, 60));
    ASSERT_FALSE(fetch);
    EXPECT_EQ(fetch.error().kind, ErrorKind::rejected);
    EXPECT_THAT(fetch.error().message, HasSubstr("HTTP 404"));
  }
  FakePrometheus server;
  fill(server, 100);
  server.offers_remote_read = server.offers_export = true;
  PrometheusSettings with = settings();
  with.backfill = "range";
  EXPECT_EQ(counted(make(server, with)->fetch(range(0, 60))), "960 240");
  for (const std::string& line : server.samples_asked())
    EXPECT_THAT(line, StartsWith("POST /api/v1/query"));
}

TEST(PrometheusSource, APassingFaultOfALongRangeIsReturnedAndDecidesNothing) {
  FakePrometheus server;
  fill(server, 100);
  server.offers_remote_read = true;
  const auto source = make(server);
  for (const ErrorKind kind : {ErrorKind::unavailable, ErrorKind::timeout, ErrorKind::throttled}) {
    for (const std::size_t answered : {0, 1, 2}) {  // The jobs, a series to compare, remote read.
      server.next_answers.assign(answered, std::nullopt);
      server.next_answers.push_back(Error{kind, "passing"});
      const auto fetch = source->fetch(range(0, 60));
      ASSERT_FALSE(fetch);
      EXPECT_EQ(fetch.error().kind, kind);
    }
  }
  EXPECT_EQ(counted(source->fetch(range(0, 60))), "960 240");
  EXPECT_EQ(FakePrometheus::path_of(server.journal.back()), "/api/v1/read");
}

TEST(PrometheusSource, BrokenRemoteReadAnswersAreForgottenBeforeAnotherWay) {
  FakePrometheus server;
  fill(server, 100);
  server.offers_remote_read = true;
  const auto source = make(server);
  ASSERT_TRUE(source->fetch(range(0, 30)));
  // A good frame of other counts, then rubbish: none of it may be counted.
  FakePrometheus other;
  fill(other, 100);
  for (auto& [labels, samples] : other.data) {
    for (Sample& sample : samples) sample.value *= 7;
  }
  other.offers_remote_read = true;
  const auto witness = make(other);
  ASSERT_TRUE(witness->fetch(range(0, 30)));
  std::string body;
  HttpRequest again = other.journal.back();
  again.on_body = [&](std::string_view piece) {
    body += piece;
    return ok();
  };
  ASSERT_TRUE(other.send(again));
  body.back() = static_cast<char>(body.back() ^ 1);
  server.next_answers.push_back(
      HttpResponse{200, {{"content-type", "application/x-streamed-protobuf"}}, body});
  EXPECT_EQ(counted(source->fetch(range(30, 60))), "480 120");
}

TEST(PrometheusSource, OverALongRangeOnlyTargetsOfJobsWithWantedCountersAreRead) {
  FakePrometheus server;
  fill(server, 100);
  for (int i = 0; i < 50; ++i) {  // The rest of a fleet.
    server.add({{"__name__", "up"}, {"job", "node"}, {"instance", std::to_string(i)}}, {{kT0, 1}});
  }
  server.offers_export = true;
  const auto source = make(server);
  EXPECT_EQ(counted(source->fetch(range(0, 60))), "960 240");
  EXPECT_EQ(
      server.asked().front(),
      R"(GET /api/v1/label/job/values {__name__=~"failed_total|served_total"} 1795999740.000 1796003640.000)");
  EXPECT_THAT(server.asked().back(),
              HasSubstr(R"({__name__=~"process_start_time_seconds|up",job=~"gw"})"));

  // Where there is no such job, nothing of targets is asked; where the server can't say,
  // everything.
  FakePrometheus empty;
  empty.offers_export = true;
  ASSERT_TRUE(make(empty)->fetch(range(0, 60)));
  EXPECT_THAT(empty.asked().back(), ::testing::Not(HasSubstr("process_start_time_seconds")));
  server.offers_label_values = false;
  EXPECT_EQ(counted(make(server)->fetch(range(0, 60))), "960 240");
  EXPECT_THAT(server.asked().back(), HasSubstr(R"( {__name__=~"process_start_time_seconds|up"} )"));
}

}  // namespace
}  // namespace outcomed
