#include "tests/support/gateway_sim/gateway.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "queries/exposition/label_text.h"
#include "queries/exposition/text_format.h"
#include "queries/recording/file_pieces.h"

namespace outcomed::sim {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kOrigin = 1'796'000'000'000;
constexpr std::int64_t kMinute = 60'000;

GatewayOptions options_of(std::string version, std::string_view scenario = "all") {
  GatewayOptions options;
  options.version = std::move(version);
  options.script = *parse_script(*builtin_script(scenario));
  options.origin_ms = kOrigin;
  return options;
}

Gateway make(GatewayOptions options, Gateway::OnRequest taker = {}) {
  auto gateway = Gateway::make(std::move(options), std::move(taker));
  EXPECT_TRUE(gateway) << gateway.error().message;
  return *std::move(gateway);
}

std::string page_of(const Gateway& gateway, bool openmetrics = false) {
  std::string page;
  gateway.write_page(page, openmetrics);
  return page;
}

// Metric name -> names of its labels, in order.
using Shape = std::map<std::string, std::set<std::string>>;

Shape shape_of(std::string_view page, TextFormat format = TextFormat::prometheus) {
  Shape shape;
  TextParser parser(
      format, [](std::string_view) { return true; },
      [&](const TextSample& sample) {
        std::string names;
        LabelWalk walk(sample.labels_text);
        while (walk.next()) names += std::string(walk.name()) + " ";
        shape[std::string(sample.name)].insert(names);
        EXPECT_TRUE(sample.ordered) << sample.series;
        return ok();
      });
  Status status = parser.feed(page);
  if (status) status = parser.finish();
  EXPECT_TRUE(status) << status.error().message;
  return shape;
}

TEST(Gateway, IsTheSameHoweverTheWayIsCut) {
  std::string whole_truth;
  Gateway whole = make(options_of("1.81.9"),
                       [&](const ClientRequest& request) { whole_truth += to_json(request); });
  whole.advance_to(104 * kMinute);
  std::string cut_truth;
  Gateway cut = make(options_of("1.81.9"),
                     [&](const ClientRequest& request) { cut_truth += to_json(request); });
  for (std::int64_t at = 0; at <= 104 * kMinute; at += 7'777) cut.advance_to(at);
  cut.advance_to(104 * kMinute);
  EXPECT_EQ(page_of(whole), page_of(cut));
  EXPECT_EQ(whole_truth, cut_truth);
  GatewayOptions other = options_of("1.81.9");
  other.seed = 2;
  Gateway different = make(other);
  different.advance_to(104 * kMinute);
  EXPECT_NE(page_of(whole), page_of(different));
}

TEST(Gateway, RefusesNinetyTwoOfAHundredRequestsOfTheSmallModel) {
  std::map<std::string, int> judge;
  int all = 0;
  int failed = 0;
  Gateway gateway = make(options_of("1.81.9"), [&](const ClientRequest& request) {
    if (request.at_ms < kOrigin + 5 * kMinute || request.at_ms >= kOrigin + 11 * kMinute) return;
    ++all;
    failed += request.status != 200;
    if (request.model == "judge") ++judge[std::string(request.exception)];
  });
  gateway.advance_to(12 * kMinute);
  const double refused = judge["RouterRateLimitError"];
  double asked = 0;
  for (const auto& [exception, count] : judge) asked += count;
  EXPECT_NEAR(refused / asked, 0.92, 0.04);
  // Too few of all to be noticed by a share over everything.
  EXPECT_LT(double(failed) / all, 0.10);
}

TEST(Gateway, BeginsAnewAtARestart) {
  Gateway gateway = make(options_of("1.81.9"));
  gateway.advance_to(95 * kMinute);
  EXPECT_TRUE(gateway.up());
  EXPECT_EQ(gateway.process().start, (kOrigin - 5000) / 1000.0);
  const std::string before = page_of(gateway);
  gateway.advance_to(95 * kMinute + 40'000);
  EXPECT_FALSE(gateway.up());
  EXPECT_EQ(page_of(gateway), "");
  gateway.advance_to(96 * kMinute);
  EXPECT_TRUE(gateway.up());
  EXPECT_EQ(gateway.process().start, (kOrigin + 95 * kMinute + 50'000) / 1000.0);
  EXPECT_LT(page_of(gateway).size(), before.size() / 4);
}

TEST(Gateway, ShowsEveryMinuteOfTheTimelineInASecondAtSpeedSixty) {
  GatewayOptions options = options_of("1.81.9");
  options.speed = 60;
  std::int64_t last = 0;
  Gateway gateway = make(options, [&](const ClientRequest& request) { last = request.at_ms; });
  gateway.advance_to_unix(kOrigin + 10'000);
  EXPECT_LE(last, kOrigin + 10'000);
  EXPECT_GT(last, kOrigin + 9'900);
  Gateway slow = make(options_of("1.81.9"));
  slow.advance_to(10 * kMinute);
  EXPECT_EQ(shape_of(page_of(gateway)), shape_of(page_of(slow)));
}

TEST(Gateway, CountsARefusedScrapeWhereTheVersionDoes) {
  for (const auto& [version, counted] : {std::pair("1.81.9", false), std::pair("1.106.12", true)}) {
    Gateway gateway = make(options_of(version));
    gateway.advance_to(1000);
    gateway.note_refused_scrape();
    EXPECT_EQ(page_of(gateway).find("route=\"/metrics\"") != std::string::npos, counted);
  }
}

TEST(Gateway, MakesSeriesForEveryKey) {
  GatewayOptions options = options_of("1.81.9");
  options.keys = 3;
  options.models = 40;
  Gateway gateway = make(options);
  gateway.advance_to(20 * kMinute);
  std::set<std::string> keys;
  std::set<std::string> models;
  TextParser parser(
      TextFormat::prometheus,
      [](std::string_view name) { return name == "litellm_request_total_latency_metric_count"; },
      [&](const TextSample& sample) {
        keys.emplace(sample.labels().get("hashed_api_key"));
        models.emplace(sample.labels().get("requested_model"));
        return ok();
      });
  ASSERT_TRUE(parser.feed(page_of(gateway)));
  EXPECT_EQ(keys.size(), 3u);
  EXPECT_EQ(models.size(), 38u);  // All but the newcomer and the stillborn.
}

TEST(Gateway, RefusesOptionsThatMeanNothing) {
  const auto error = [](auto change) {
    GatewayOptions options = options_of("1.81.9");
    change(options);
    const auto gateway = Gateway::make(options);
    return gateway ? std::string("no error") : gateway.error().message;
  };
  EXPECT_THAT(error([](auto& o) { o.version = "latest"; }), HasSubstr("not a version"));
  EXPECT_THAT(error([](auto& o) { o.models = 0; }), HasSubstr("models"));
  EXPECT_THAT(error([](auto& o) { o.models = 3; }), HasSubstr("names the model stillborn"));
  EXPECT_THAT(error([](auto& o) { o.speed = 0; }), HasSubstr("speed"));
  EXPECT_EQ(error([](auto&) {}), "no error");
}

// ---- names and labels are the real gateway's ----

class GatewayPages : public ::testing::TestWithParam<const char*> {};

TEST_P(GatewayPages, HaveTheNamesAndLabelsOfTheRealGateway) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(OUTCOMED_DATA) / "litellm" / GetParam() / "pages";
  if (!fs::exists(folder)) {
    GTEST_SKIP() << "the recordings of real gateways are not here: " << folder
                 << " (set OUTCOMED_DATA to the folder that holds litellm/)";
  }
  Shape real;
  for (const auto& file : fs::directory_iterator(folder)) {
    std::string page;
    ASSERT_TRUE(read_pieces(file.path().string(), [&](std::string_view piece) {
      page += piece;
      return ok();
    }));
    for (auto& [name, labels] : shape_of(page)) real[name].merge(labels);
  }
  Gateway gateway = make(options_of(GetParam()));
  gateway.advance_to(94 * kMinute);
  std::size_t compared = 0;
  for (const auto& [name, labels] : shape_of(page_of(gateway))) {
    if (name.find("failed_fallbacks") != std::string::npos) continue;  // The real ones had none.
    ASSERT_TRUE(real.contains(name)) << name;
    EXPECT_EQ(labels, real[name]) << name;
    ++compared;
  }
  EXPECT_GT(compared, 40u);
}

INSTANTIATE_TEST_SUITE_P(Versions, GatewayPages, ::testing::Values("1.81.9", "1.106.12"),
                         [](const auto& version) {
                           return std::string(version.param == std::string("1.81.9") ? "old"
                                                                                     : "new");
                         });

TEST(Gateway, ShowsTheSameInOpenMetrics) {
  Gateway gateway = make(options_of("1.106.12"));
  gateway.advance_to(60 * kMinute);
  EXPECT_EQ(shape_of(page_of(gateway, true), TextFormat::openmetrics), shape_of(page_of(gateway)));
  EXPECT_THAT(page_of(gateway, true),
              HasSubstr("# TYPE litellm_proxy_failed_requests_metric counter"));
  EXPECT_THAT(page_of(gateway),
              HasSubstr("# TYPE litellm_proxy_failed_requests_metric_total counter"));
}

}  // namespace
}  // namespace outcomed::sim
