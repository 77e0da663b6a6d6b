#include "queries/exposition/exposition_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "daemon/net/curl_client.h"
#include "tests/alerts/settings_visitor.h"
#include "tests/support/faulty_server.h"

namespace outcomed {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FaultyServer;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Reply;

class OneSecret final : public SecretReader {
 public:
  Result<Secret> read(const SecretRef&) override { return Secret("sk-metrics-key"); }
};

SignalPlan plan() {
  const auto labels = [](const Labels& raw) -> std::optional<Labels> {
    return raw.project({"model", "why"});
  };
  SignalPlan plan;
  plan.name = "asks";
  plan.labels = {"model"};
  plan.failure_labels = {"why"};
  plan.terms = {{{"asks_total", {}}, 1, true, false, false, labels},
                {{"fails_total", {}}, 1, false, true, false, labels}};
  return plan;
}

std::string page(int asks, int started = 1) {
  return "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds " +
         std::to_string(started) + "\nasks_total{model=\"a\"} " + std::to_string(asks) +
         ".0\nother{never=\"read\n";
}

Timestamp at(std::int64_t seconds) { return from_unix_ms(seconds * 1000); }
TimeRange seconds(std::int64_t from, std::int64_t to) { return {at(from), at(to)}; }

class ExpositionTest : public ::testing::Test {
 protected:
  ExpositionTest() { make(); }

  void make() {
    settings_.url = server_.url("/metrics");
    settings_.timeout = 2s;
    source_ = std::make_unique<ExpositionSource>(settings_, std::vector{plan()}, client_);
  }
  Status poll(std::int64_t time, Reply reply) {
    server_.reply_once(std::move(reply));
    return source_->poll(at(time));
  }
  std::string failure(std::int64_t time, Reply reply) {
    const Status status = poll(time, std::move(reply));
    return status ? "no error" : status.error().message;
  }
  SignalBatch fetch(TimeRange range) {
    auto fetched = source_->fetch(range);
    EXPECT_TRUE(fetched) << fetched.error().message;
    return fetched ? fetched->batches.at(0) : SignalBatch{};
  }

  FaultyServer server_;
  OneSecret secrets_;
  CurlClient client_{secrets_};
  ExpositionSettings settings_;
  std::unique_ptr<ExpositionSource> source_;
};

TEST_F(ExpositionTest, CountsFromScrapeToScrapeAtTheirBeginnings) {
  ASSERT_TRUE(poll(60, Reply::ok(page(100))));
  ASSERT_TRUE(poll(75, Reply::ok(page(110))));
  ASSERT_TRUE(poll(120, Reply::ok(page(130))));
  ASSERT_TRUE(poll(135, Reply::ok(page(131))));
  const SignalBatch batch = fetch(seconds(60, 120));
  EXPECT_THAT(batch.coverage, ElementsAre(Coverage::complete));
  EXPECT_EQ(batch.n, std::vector<std::int64_t>{30});
  // What was scraped after the range waits for the next one.
  ASSERT_TRUE(poll(180, Reply::ok(page(140))));
  EXPECT_EQ(fetch(seconds(120, 180)).n, std::vector<std::int64_t>{10});
}

TEST_F(ExpositionTest, AsksForTextAndSendsItsKeyToTheRedirectedPage) {
  settings_.access.bearer_token = {SecretRef::Kind::env, "KEY"};
  make();
  server_.on("/metrics", Reply::redirect(307, server_.url("/metrics/")));
  server_.on("/metrics/", Reply::ok(page(1)));
  ASSERT_TRUE(source_->poll(at(60)));
  const auto requests = server_.requests();
  ASSERT_EQ(requests.size(), 2u);
  for (const auto& request : requests) {
    EXPECT_EQ(request.header("authorization"), "Bearer sk-metrics-key");
    EXPECT_EQ(request.header("accept"), "text/plain;version=0.0.4");
  }
}

TEST_F(ExpositionTest, DoesNotFollowARedirectElsewhere) {
  FaultyServer other;
  const std::string message =
      failure(60, Reply::redirect(307, other.url("/secret-path?token=abc")));
  EXPECT_THAT(message, AllOf(HasSubstr("HTTP 307"), HasSubstr("set url to where the page is"),
                             Not(HasSubstr("abc"))));
  EXPECT_THAT(other.requests(), IsEmpty());
}

TEST_F(ExpositionTest, TakesAFailedScrapeForAGapAndLosesNothing) {
  ASSERT_TRUE(poll(60, Reply::ok(page(100))));
  for (int time = 75; time <= 180; time += 15) {
    EXPECT_FALSE(poll(time, Reply::with_status(503, "starting")));
  }
  ASSERT_TRUE(poll(195, Reply::ok(page(160))));
  const SignalBatch batch = fetch(seconds(60, 240));
  EXPECT_THAT(batch.coverage,
              ElementsAre(Coverage::missing, Coverage::missing, Coverage::complete));
  EXPECT_EQ(batch.n, (std::vector<std::int64_t>{0, 0, 60}));
}

TEST_F(ExpositionTest, FailsAFetchOnlyWhereNothingWasScrapedAndNothingIsYet) {
  EXPECT_FALSE(poll(70, Reply::with_status(503, "starting")));
  const auto failed = source_->fetch(seconds(60, 120));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(failed.error().message, HasSubstr("HTTP 503: starting"));
  // Once a later scrape succeeds the gap is a fact, not an error.
  ASSERT_TRUE(poll(130, Reply::ok(page(100))));
  EXPECT_THAT(fetch(seconds(60, 120)).coverage, ElementsAre(Coverage::missing));
  // A range with a scrape is served although the last scrape failed.
  EXPECT_FALSE(poll(150, Reply::close()));
  EXPECT_THAT(fetch(seconds(120, 180)).coverage, ElementsAre(Coverage::complete));
}

TEST_F(ExpositionTest, SaysThatStepsAreMissingWhenItNeverLooked) {
  EXPECT_THAT(fetch(seconds(0, 60)).coverage, ElementsAre(Coverage::missing));
}

TEST_F(ExpositionTest, CountsFromTheFirstFailureOfAGatewayThatHadNoCounterYet) {
  // No start time (several workers share their counters), no counter before the first request.
  ASSERT_TRUE(poll(60, Reply::ok("# TYPE asks_total counter\n")));
  ASSERT_TRUE(
      poll(90, Reply::ok("asks_total{model=\"a\"} 7\nfails_total{model=\"a\",why=\"x\"} 2\n")));
  const SignalBatch batch = fetch(seconds(60, 120));
  EXPECT_EQ(batch.coverage[0], Coverage::complete);
  EXPECT_EQ(batch.n[0] + batch.n[1], 7);
  EXPECT_EQ(batch.k[0] + batch.k[1], 2);
}

TEST_F(ExpositionTest, RemembersCountersAcrossARestartOfTheDaemon) {
  ASSERT_TRUE(poll(60, Reply::ok(page(100))));
  ASSERT_TRUE(poll(120, Reply::ok(page(130))));
  EXPECT_EQ(fetch(seconds(60, 120)).n, std::vector<std::int64_t>{30});
  Writer writer;
  source_->save(writer);
  make();
  Reader reader(writer.bytes());
  ASSERT_TRUE(source_->load(reader));
  ASSERT_TRUE(poll(300, Reply::ok(page(200))));
  const SignalBatch batch = fetch(seconds(120, 300));
  EXPECT_EQ(batch.n, (std::vector<std::int64_t>{0, 0, 70}));
}

TEST_F(ExpositionTest, KeepsPageLabelsApartFromItsOwn) {
  TextParser parser(
      TextFormat::prometheus, [](std::string_view) { return true; },
      [](const TextSample& sample) {
        const PageTarget target{"exposition", "h:4000"};
        EXPECT_EQ(target.labels_of(sample), (Labels{{"__name__", "x"},
                                                    {"job", "exposition"},
                                                    {"instance", "h:4000"},
                                                    {"exported_job", "theirs"}}));
        return ok();
      });
  ASSERT_TRUE(parser.feed("x{job=\"theirs\"} 1\n"));
}

// ---- what is no page ----

TEST_F(ExpositionTest, TakesAWebPageForAnError) {
  for (const Reply& reply :
       {Reply::ok("\n<!DOCTYPE html><html>login</html>"),
        Reply::ok("Sign in\n").with_header("content-type", "text/html; charset=utf-8")}) {
    const Status status = poll(60, reply);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().kind, ErrorKind::corrupt);
    EXPECT_THAT(status.error().message, HasSubstr("web page"));
  }
  EXPECT_THAT(failure(60, Reply::json("{\"detail\":\"x\"}")), HasSubstr("JSON"));
}

TEST_F(ExpositionTest, TakesAnEmptyOrTruncatedPageForAnError) {
  EXPECT_THAT(failure(60, Reply::ok("")), HasSubstr("the page is empty"));
  EXPECT_THAT(failure(60, Reply::ok("asks_total 12")), HasSubstr("cut off"));
  EXPECT_FALSE(poll(60, Reply::truncated(page(100))));
  EXPECT_FALSE(poll(60, Reply::reset_after_headers()));
  EXPECT_THAT(
      failure(60, Reply::ok("asks_total 1\n")
                      .with_header("content-type", "application/openmetrics-text; version=1.0.0")),
      HasSubstr("# EOF"));
  EXPECT_TRUE(
      poll(61, Reply::ok("asks_total 1\n# EOF\n")
                   .with_header("content-type", "application/openmetrics-text; version=1.0.0")));
}

TEST_F(ExpositionTest, KeepsNothingOfAPageWithABrokenLine) {
  ASSERT_TRUE(poll(60, Reply::ok(page(100))));
  EXPECT_THAT(failure(75, Reply::ok("asks_total{model=\"a\"} 5000\nasks_total{model=\"b\" 1\n")),
              HasSubstr("line 2: expected , or }"));
  ASSERT_TRUE(poll(90, Reply::ok(page(107))));
  EXPECT_EQ(fetch(seconds(60, 120)).n[0], 7);
}

TEST_F(ExpositionTest, TellsWhatToDoAboutAMissingKeyWithoutShowingTheAnswer) {
  const Status status = poll(60, Reply::with_status(401, "Received API Key = sk-...ab12"));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::unauthorized);
  EXPECT_THAT(status.error().message,
              AllOf(HasSubstr("HTTP 401"), HasSubstr("bearer_token"),
                    HasSubstr("require_auth_for_metrics_endpoint"), Not(HasSubstr("ab12"))));
}

TEST_F(ExpositionTest, GivesUpOnAHugeOrSlowPage) {
  settings_.max_bytes = 100'000;
  settings_.timeout = 300ms;
  make();
  const Status huge = poll(60, Reply::ok("# " + std::string(200'000, 'x') + "\n"));
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().kind, ErrorKind::too_large);
  const Status slow = poll(60, Reply::hang());
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().kind, ErrorKind::timeout);
  EXPECT_FALSE(poll(60, Reply::gzip_bomb(20'000'000)));
  server_.release();
}

TEST_F(ExpositionTest, SkipsScrapesWhileTheClockIsBehind) {
  ASSERT_TRUE(poll(600, Reply::ok(page(100))));
  EXPECT_THAT(source_->poll(at(300)).error().message, HasSubstr("the clock went back"));
  EXPECT_THAT(source_->poll(at(600)).error().message, HasSubstr("the clock went back"));
  EXPECT_EQ(server_.requests().size(), 1u);
  ASSERT_TRUE(poll(615, Reply::ok(page(110))));
  EXPECT_EQ(fetch(seconds(600, 660)).n[0], 10);
}

TEST(Exposition, ExplainsItsSettingsAndRefusesWrongOnes) {
  const auto problems = [](ExpositionSettings settings) {
    testing::SettingsVisitor visitor;
    settings.visit(visitor);
    EXPECT_TRUE(visitor.all_explained);
    return visitor.problems;
  };
  ExpositionSettings good;
  good.url = "http://127.0.0.1:4000/metrics";
  EXPECT_THAT(problems(good), IsEmpty());
  EXPECT_THAT(problems({}), ElementsAre("url"));
  ExpositionSettings bad = good;
  bad.scrape_interval = 500ms;
  bad.timeout = 0ms;
  bad.max_bytes = 0;
  EXPECT_THAT(problems(bad), ElementsAre("scrape_interval", "timeout", "max_bytes"));
  bad = good;
  bad.timeout = 20s;
  EXPECT_THAT(problems(bad), ElementsAre("timeout"));
}

TEST(Exposition, NamesItsTargetByHostAndPort) {
  EXPECT_EQ(instance_of("http://127.0.0.1:4000/metrics/"), "127.0.0.1:4000");
  EXPECT_EQ(instance_of("https://gw.example.org/metrics?x=:1"), "gw.example.org:443");
  EXPECT_EQ(instance_of("http://user:pw@gw/metrics"), "gw:80");
  EXPECT_EQ(instance_of("http://[::1]:4000/metrics"), "[::1]:4000");
  EXPECT_EQ(instance_of("http://[::1]/metrics"), "[::1]:80");
  EXPECT_EQ(instance_of("gw"), "gw:80");
}

// Answers when it is let go.
class HangingClient final : public HttpClient {
 public:
  Result<HttpResponse> send(const HttpRequest& request) override {
    asked.count_down();
    let_go.wait();
    if (Status taken = request.on_body(page(100)); !taken) return taken.error();
    HttpResponse response;
    response.status = 200;
    return response;
  }
  std::latch asked{1};
  std::latch let_go{1};
};

TEST_F(ExpositionTest, APageThatHangsHoldsNobodyUp) {
  ASSERT_TRUE(poll(60, Reply::ok(page(100))));
  HangingClient hanging;
  ExpositionSource slow(settings_, {plan()}, hanging);
  Status polled = ok();
  std::jthread poller([&] { polled = slow.poll(at(60)); });
  hanging.asked.wait();
  // All that a tick does goes on meanwhile.
  EXPECT_TRUE(slow.fetch(seconds(0, 60)));
  slow.take_in();
  Writer writer;
  slow.save(writer);
  EXPECT_TRUE(slow.cells(0).empty());
  hanging.let_go.count_down();
  poller.join();
  EXPECT_TRUE(polled);
  const auto fetched = slow.fetch(seconds(60, 120));
  ASSERT_TRUE(fetched);
  EXPECT_EQ(slow.cells(0).size(), 1U);
}

}  // namespace
}  // namespace outcomed
