// Single requests, their faults, and what a restart remembers.
#include "tests/queries/prometheus/prometheus_source_fixture.h"

namespace outcomed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(PrometheusSource, ALiveRangeIsOneRequestForAllCountersAndOneForTheTargets) {
  FakePrometheus server;
  fill(server, 10);
  const auto source = make(server);
  EXPECT_EQ(counted(source->fetch(range(0, 1))), "16 4");
  EXPECT_EQ(counted(source->fetch(range(1, 2))), "16 4");
  EXPECT_THAT(
      server.asked(),
      ElementsAre(
          // The first looks back five minutes and knows no job.
          R"(POST /api/v1/query {__name__=~"failed_total|served_total"}[6m] 1796000100.000)",
          R"(POST /api/v1/query {__name__=~"process_start_time_seconds|up"}[6m] 1796000100.000)",
          R"(POST /api/v1/query {__name__=~"failed_total|served_total"}[1m] 1796000160.000)",
          R"(POST /api/v1/query {__name__=~"process_start_time_seconds|up",job=~"gw"}[1m] 1796000160.000)"));
  const HttpRequest& request = server.journal.front();
  EXPECT_EQ(request.url, "http://prom:9090/api/v1/query");
  EXPECT_THAT(request.headers, ElementsAre(std::pair<std::string, std::string>(
                                   "Content-Type", "application/x-www-form-urlencoded")));
  const auto form = FakePrometheus::form_of(request);
  EXPECT_THAT(
      form, ::testing::IsSupersetOf({std::pair<const std::string, std::string>("timeout", "10.000"),
                                     std::pair<const std::string, std::string>("nocache", "1")}));
  EXPECT_EQ(request.timeout, 10s);
  EXPECT_EQ(request.max_bytes, 256 * 1024 * 1024);
}

TEST(PrometheusSource, SettingsReachEveryRequest) {
  FakePrometheus server;
  fill(server, 10);
  PrometheusSettings with = settings();
  with.url = "https://prom.example.org/prefix/";
  with.matchers = {*Matcher::parse(R"(job="gw")")};
  with.timeout = 2500ms;
  with.lookback = 30s;
  with.max_bytes = 123'456;
  with.access.bearer_token = *SecretRef::parse("env:TOKEN");
  const auto source = make(server, with);
  ASSERT_TRUE(source->fetch(range(0, 1)));
  EXPECT_THAT(
      server.asked(),
      ElementsAre(
          R"(POST /prefix/api/v1/query {__name__=~"failed_total|served_total",job="gw"}[1m30s] 1796000100.000)",
          R"(POST /prefix/api/v1/query {__name__=~"process_start_time_seconds|up",job="gw"}[1m30s] 1796000100.000)"));
  for (const HttpRequest& request : server.journal) {
    EXPECT_EQ(request.access.bearer_token.to_string(), "env:TOKEN");
    EXPECT_EQ(request.timeout, 2500ms);
    EXPECT_EQ(request.max_bytes, 123'456);
  }
}

TEST(PrometheusSource, AServerThatTakesNoPostIsAskedWithGet) {
  FakePrometheus server;
  fill(server, 10);
  server.refuses_post = true;
  const auto source = make(server);
  EXPECT_EQ(counted(source->fetch(range(0, 1))), "16 4");
  ASSERT_EQ(server.journal.size(), 3U);
  EXPECT_EQ(server.journal[0].method, "POST");
  EXPECT_EQ(server.journal[1].method, "GET");
  EXPECT_TRUE(server.journal[1].body.empty());
  EXPECT_EQ(server.journal[2].method, "GET");
  server.next_answers.push_back(HttpResponse{503, {}, ""});
  const auto failed = source->fetch(range(1, 2));
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, StartsWith("GET prom:9090/api/v1/query: "));
}

TEST(PrometheusSource, EveryFaultOfAnAnswerHasItsKindAndNamesTheRequest) {
  const auto body = [](std::string text) { return HttpResponse{200, {}, std::move(text)}; };
  struct Case {
    Result<HttpResponse> answer;
    ErrorKind kind;
    std::string text;
  };
  const Case cases[] = {
      {Error{ErrorKind::unavailable, "POST http://prom:9090/…: connection refused"},
       ErrorKind::unavailable, "connection refused"},
      {Error{ErrorKind::timeout, "POST http://prom:9090/…: no answer"}, ErrorKind::timeout,
       "no answer"},
      {HttpResponse{
           400, {}, R"({"status":"error","errorType":"bad_data","error":"parse error at 3"})"},
       ErrorKind::rejected, "HTTP 400, bad_data: parse error at 3 (query {__name__=~"},
      {HttpResponse{
           422, {}, R"({"status":"error","errorType":"execution","error":"No StoreAPIs matched"})"},
       ErrorKind::rejected, "No StoreAPIs matched"},
      {HttpResponse{
           503, {}, R"({"status":"error","errorType":"timeout","error":"query timed out"})"},
       ErrorKind::unavailable, "query timed out"},
      {HttpResponse{500, {}, "<html>oops</html>"}, ErrorKind::unavailable, "HTTP 500"},
      {HttpResponse{401, {}, ""}, ErrorKind::unauthorized, "HTTP 401"},
      {HttpResponse{403, {}, ""}, ErrorKind::unauthorized, "HTTP 403"},
      {HttpResponse{404, {}, "not here"}, ErrorKind::rejected, "HTTP 404: not here"},
      {HttpResponse{429, {}, ""}, ErrorKind::throttled, "HTTP 429"},
      {HttpResponse{302, {{"location", "https://login.example.org/secret?x"}}, ""},
       ErrorKind::rejected, "redirects to https://login.example.org/…"},
      {body(""), ErrorKind::corrupt, "empty"},
      {body("<html>login</html>"), ErrorKind::corrupt, "web page"},
      {body(R"({"status":"success","data":{"resultType":"mat)"), ErrorKind::corrupt, ""},
      {body(R"({"status":"error","errorType":"internal","error":"x"})"), ErrorKind::rejected,
       "internal: x"},
      {body(R"({"status":"success","data":{"resultType":"vector","result":[]}})"),
       ErrorKind::unsupported, "vector"},
      {body(R"({"status":"success","isPartial":true,"data":{"resultType":"matrix","result":[]}})"),
       ErrorKind::partial, "accept_partial"},
      {body(
           R"({"status":"success","data":{"resultType":"matrix","result":[]},"warnings":["store down"]})"),
       ErrorKind::partial, "store down"},
  };
  for (const Case& one : cases) {
    FakePrometheus server;
    server.next_answers.push_back(one.answer);
    PrometheusSettings with = settings();
    with.url = "http://user@prom:9090/";
    const auto fetch = make(server, with)->fetch(range(0, 1));
    ASSERT_FALSE(fetch) << one.text;
    EXPECT_EQ(fetch.error().kind, one.kind) << fetch.error().message;
    EXPECT_THAT(fetch.error().message, StartsWith("POST prom:9090/api/v1/query: "));
    EXPECT_THAT(fetch.error().message, HasSubstr(one.text));
    EXPECT_THAT(fetch.error().message, ::testing::Not(HasSubstr("secret")));
  }
}

TEST(PrometheusSource, AFailedFetchChangesNothing) {
  FakePrometheus server;
  fill(server, 10);
  const auto source = make(server);
  ASSERT_TRUE(source->fetch(range(0, 1)));
  // Once the counters arrive and the second answer doesn't; once the first is broken at its end.
  server.next_answers = {std::nullopt, Error{ErrorKind::timeout, "late"}};
  EXPECT_FALSE(source->fetch(range(1, 2)));
  server.more = R"(,"warnings":["store 7 is away"])";
  EXPECT_FALSE(source->fetch(range(1, 2)));
  server.more = "";
  EXPECT_EQ(counted(source->fetch(range(1, 2))), "16 4");
  EXPECT_EQ(counted(source->fetch(range(2, 3))), "16 4");
}

TEST(PrometheusSource, PartialAnswersAreCountedAndSaidWhereTheUserWantsThat) {
  FakePrometheus server;
  fill(server, 10);
  server.more = R"(,"warnings":["store 7 is away"])";
  PrometheusSettings with = settings();
  with.accept_partial = true;
  const auto source = make(server, with);
  const auto fetch = source->fetch(range(0, 1));
  EXPECT_EQ(counted(fetch), "16 4");
  EXPECT_THAT(fetch->facts, ::testing::Contains(HasSubstr("store 7 is away")));
  server.more = "";
  const auto next = source->fetch(range(1, 2));
  ASSERT_TRUE(next);
  EXPECT_TRUE(next->facts.empty());
}

TEST(PrometheusSource, AnswersThatAreTooLargeAreAskedInSmallerPieces) {
  for (const bool by_bytes : {false, true}) {
    FakePrometheus server;
    fill(server, 10);
    PrometheusSettings with = settings();
    if (by_bytes) {
      with.max_bytes = 1000;
    } else {
      server.most_samples = 12;
    }
    const auto source = make(server, with);
    EXPECT_EQ(counted(source->fetch(range(0, 4))), "64 16") << by_bytes;
    EXPECT_EQ(counted(source->fetch(range(4, 8))), "64 16") << by_bytes;
  }
  FakePrometheus server;
  fill(server, 10);
  server.most_samples = 0;
  const auto fetch = make(server)->fetch(range(0, 1));
  ASSERT_FALSE(fetch);
  EXPECT_LT(server.journal.size(), 20U);
}

TEST(PrometheusSource, ARangeThatDoesNotContinueTheLastIsPrimedAgain) {
  FakePrometheus server;
  fill(server, 10);
  const auto source = make(server);
  ASSERT_TRUE(source->fetch(range(0, 1)));
  server.journal.clear();
  ASSERT_TRUE(source->fetch(range(3, 4)));
  EXPECT_THAT(server.asked().front(), HasSubstr("[6m]"));
}

TEST(PrometheusSource, ATimeoutAsLongAsAStepIsRefused) {
  FakePrometheus server;
  PrometheusSettings with = settings();
  with.timeout = kStep;
  const auto made = PrometheusSource::make(with, {plan()}, server);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::invalid);
  EXPECT_THAT(made.error().message, HasSubstr("requests"));
}

TEST(PrometheusSource, ARangeWithoutLengthIsRefused) {
  FakePrometheus server;
  const auto fetch = make(server)->fetch(range(1, 1));
  ASSERT_FALSE(fetch);
  EXPECT_EQ(fetch.error().kind, ErrorKind::invalid);
  EXPECT_TRUE(server.journal.empty());
}

TEST(PrometheusSource, ARestartGoesOnWhereItWas) {
  FakePrometheus server;
  fill(server, 10);
  const auto before = make(server);
  ASSERT_TRUE(before->fetch(range(0, 2)));
  Writer writer;
  before->save(writer);

  const auto after = make(server);
  after->seed_cells(0, before->cells(0));
  Reader reader(writer.bytes());
  ASSERT_TRUE(after->load(reader));
  EXPECT_EQ(after->cells(0), before->cells(0));
  server.journal.clear();
  EXPECT_EQ(counted(after->fetch(range(2, 3))), "16 4");
  EXPECT_THAT(server.asked()[0], HasSubstr("[6m]"));
  EXPECT_THAT(server.asked()[1], HasSubstr("job=~\"gw\""));  // Known from the memory.
}

TEST(PrometheusSource, AnUnreadableMemoryLeavesAnEmptyOneWithItsCells) {
  FakePrometheus server;
  fill(server, 10);
  const auto source = make(server);
  const std::vector<Labels> cells{Labels{{"model", "old"}}, Labels{{"model", "judge"}}};
  source->seed_cells(0, cells);
  Reader reader("\x07rubbish");
  EXPECT_FALSE(source->load(reader));
  EXPECT_EQ(source->cells(0), cells);
  EXPECT_EQ(counted(source->fetch(range(0, 1))), "16 4");
  EXPECT_EQ(source->cells(0), cells);
}

}  // namespace
}  // namespace outcomed
