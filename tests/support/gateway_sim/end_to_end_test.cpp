// The preset's signals over a simulated gateway against what its clients got: every minute, model
// and class, by every way in which a page comes to us.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <map>
#include <set>

#include "daemon/net/curl_client.h"
#include "queries/exposition/exposition_source.h"
#include "queries/litellm/preset.h"
#include "queries/recording/recording_source.h"
#include "tests/queries/recording/recording_files.h"
#include "tests/support/gateway_sim/gateway.h"
#include "tests/support/gateway_sim/history.h"
#include "tests/support/gateway_sim/server.h"
#include "tests/support/peer_process.h"

namespace outcomed::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kOrigin = 1'796'000'040'000;  // A whole minute.
constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kMinutes = 110;

struct Counts {
  // By minute and model; by minute, model and class.
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> n;
  std::map<std::tuple<std::int64_t, std::string, std::string>, std::int64_t> k;
  friend bool operator==(const Counts&, const Counts&) = default;
};

template <class Map>
void expect_equal(const Map& got, const Map& wanted, const char* what) {
  if (got == wanted) return;
  for (const auto& [key, value] : wanted) {
    const auto found = got.find(key);
    if (found != got.end() && found->second == value) continue;
    ADD_FAILURE() << what << ": minute " << std::get<0>(key) << ", " << std::get<1>(key) << ": "
                  << (found == got.end() ? 0 : found->second) << " where the clients saw " << value;
    return;
  }
  ADD_FAILURE() << what << ": more than the clients saw";
}

struct Case {
  std::string version;
  std::string scenario;
};
void PrintTo(const Case& value, std::ostream* out) { *out << value.version << value.scenario; }

SignalPlan plan_of(const std::string& version, std::size_t number = 0) {
  litellm::PresetSettings settings;
  settings.version = version;
  SignalPlan plan = litellm::signals(settings).at(number);
  plan.labels = {"model"};
  return plan;
}

// Adds the batch up by minute since the origin.
void add(Counts& counts, const Source& source, const SignalBatch& batch,
         std::string_view failure_label = "error_class") {
  for (std::size_t i = 0; i < batch.n.size(); ++i) {
    const Labels& cell = source.cells(0)[i / batch.steps()];
    const auto step = static_cast<std::int64_t>(i % batch.steps());
    const std::int64_t minute = (unix_ms(batch.range.begin) - kOrigin) / kMinute + step;
    const std::string model(cell.get("model"));
    if (batch.n[i] != 0) counts.n[{minute, model}] += batch.n[i];
    if (batch.k[i] != 0) {
      counts.k[{minute, model, std::string(cell.get(failure_label))}] += batch.k[i];
    }
  }
}

class EndToEnd : public ::testing::TestWithParam<Case> {
 protected:
  GatewayOptions options() const {
    GatewayOptions options;
    options.version = GetParam().version;
    options.script = *parse_script(*builtin_script(GetParam().scenario));
    options.origin_ms = kOrigin;
    options.seed = 42;
    return options;
  }
  Gateway::OnRequest taker() {
    return [this](const ClientRequest& request) {
      // A scrape at the end of a minute shows what was answered in it, its last instant included.
      const std::int64_t minute = (request.at_ms - kOrigin - 1) / kMinute;
      std::string model(request.model);
      if (model == "nosuch" && GetParam().version == "1.106.12") model = "other";
      ++truth_.n[{minute, model}];
      if (request.status != 200) ++truth_.k[{minute, model, std::string(request.error_class)}];
    };
  }
  Gateway gateway() {
    auto gateway = Gateway::make(options(), taker());
    EXPECT_TRUE(gateway) << gateway.error().message;
    return *std::move(gateway);
  }
  void expect_truth(const Counts& counts) const {
    expect_equal(counts.n, truth_.n, "requests");
    expect_equal(counts.k, truth_.k, "failures");
    EXPECT_GT(truth_.k.size(), 50u);
  }
  static TimeRange minutes(std::int64_t from, std::int64_t to) {
    return {from_unix_ms(kOrigin + from * kMinute), from_unix_ms(kOrigin + to * kMinute)};
  }
  // Reads the recording whole, then in pieces of some minutes.
  void expect_truth_of_recording(const std::string& path, const std::string& version) {
    for (const std::int64_t piece : {kMinutes, std::int64_t{7}}) {
      RecordingSource source({path}, {plan_of(version)});
      Counts counts;
      for (std::int64_t at = 0; at < kMinutes; at += piece) {
        const auto fetched = source.fetch(minutes(at, std::min(at + piece, kMinutes)));
        ASSERT_TRUE(fetched) << fetched.error().message;
        EXPECT_THAT(fetched->problems, IsEmpty()) << fetched->problems[0].message;
        add(counts, source, fetched->batches[0]);
      }
      expect_truth(counts);
    }
  }

  Counts truth_;
  testing::RecordingFolder folder_;
};

TEST_P(EndToEnd, AHistoryInOpenMetricsEqualsTheClientsCounts) {
  Gateway simulated = gateway();
  History history;
  for (std::int64_t minute = 0; minute <= kMinutes; ++minute) {
    simulated.advance_to(minute * kMinute);
    history.scrape(simulated, kOrigin + minute * kMinute);
  }
  std::ofstream out(folder_ / "h.om");
  history.write([&](std::string_view piece) { out << piece; });
  out.close();
  expect_truth_of_recording(folder_ / "h.om", GetParam().version);
  expect_truth_of_recording(folder_ / "h.om", "auto");
}

TEST_P(EndToEnd, RecordedPagesEqualTheClientsCounts) {
  Gateway simulated = gateway();
  int number = 0;
  for (std::int64_t at = 0; at <= kMinutes * kMinute; at += 15'000) {
    simulated.advance_to(at);
    if (!simulated.up()) continue;
    std::string page;
    simulated.write_page(page);
    std::ofstream(folder_ / (std::to_string(number++) + "-" +
                             std::to_string((kOrigin + at) / 1000) + ".prom"))
        << page;
  }
  expect_truth_of_recording(folder_.path(), GetParam().version);
}

class NoSecrets final : public SecretReader {
 public:
  Result<Secret> read(const SecretRef&) override { return Secret("sk-sim"); }
};

TEST_P(EndToEnd, APageScrapedOverHttpEqualsTheClientsCounts) {
  Gateway simulated = gateway();
  std::atomic<std::int64_t> now = kOrigin;
  auto server = Server::start(simulated, 0, "sk-sim", [&] { return now.load(); });
  ASSERT_TRUE(server) << server.error().message;
  NoSecrets secrets;
  CurlClient http(secrets);
  ExpositionSettings settings;
  settings.url = "http://127.0.0.1:" + std::to_string((*server)->port()) + "/metrics";
  settings.access.bearer_token = {SecretRef::Kind::env, "KEY"};
  ExpositionSource source(settings, {plan_of(GetParam().version)}, http);
  Counts counts;
  int down = 0;
  for (; now <= kOrigin + kMinutes * kMinute; now += 15'000) {
    down += source.poll(from_unix_ms(now.load())) ? 0 : 1;
    const std::int64_t minute = (now - kOrigin) / kMinute;
    if (now % kMinute != 0 || minute == 0) continue;
    const auto fetched = source.fetch(minutes(minute - 1, minute));
    ASSERT_TRUE(fetched) << fetched.error().message;
    add(counts, source, fetched->batches[0]);
  }
  expect_truth(counts);
  EXPECT_EQ(down, GetParam().scenario == "all" ? 2 : 0) << "scrapes while restarting";
}

TEST_P(EndToEnd, RefusalsAndFallbacksEqualTheClientsToo) {
  std::int64_t refused = 0;
  std::int64_t fell_back = 0;
  auto made = Gateway::make(options(), [&](const ClientRequest& request) {
    if (request.error_class == "router_refusal") ++refused;
    // In these scenarios this error is only seen after a fallback that failed as well.
    const bool in_vain =
        request.model == "flaky" && request.exception.ends_with("ServiceUnavailableError");
    const bool served = !request.served_by.empty() && request.served_by != request.model;
    if (served || in_vain) ++fell_back;
  });
  ASSERT_TRUE(made);
  History history;
  for (std::int64_t minute = 0; minute <= kMinutes; ++minute) {
    made->advance_to(minute * kMinute);
    history.scrape(*made, kOrigin + minute * kMinute);
  }
  std::ofstream out(folder_ / "h.om");
  history.write([&](std::string_view piece) { out << piece; });
  out.close();
  const std::vector<SignalPlan> plans = {plan_of(GetParam().version, 2),
                                         plan_of(GetParam().version, 3)};
  ASSERT_EQ(plans[0].name, "refusals");
  ASSERT_EQ(plans[1].name, "fallbacks");
  RecordingSource source({folder_ / "h.om"}, plans);
  const auto fetched = source.fetch(minutes(0, kMinutes));
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(testing::total(fetched->batches[0].k), refused);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(testing::total(fetched->batches[1].k), fell_back);
  EXPECT_EQ(fell_back > 0, GetParam().scenario == "all");
}

TEST_P(EndToEnd, PromtoolReadsTheHistory) {
  if (const std::string missing = testing::missing_peer("promtool"); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  Gateway simulated = gateway();
  History history;
  for (std::int64_t minute = 0; minute <= kMinutes; ++minute) {
    simulated.advance_to(minute * kMinute);
    history.scrape(simulated, kOrigin + minute * kMinute);
  }
  std::ofstream out(folder_ / "h.om");
  history.write([&](std::string_view piece) { out << piece; });
  out.close();
  const std::filesystem::path log = folder_ / "log";
  testing::ChildProcess promtool(
      {(testing::peers_folder() / "bin" / "promtool").string(), "tsdb", "create-blocks-from",
       "openmetrics", folder_ / "h.om", folder_ / "data"},
      log);
  EXPECT_EQ(promtool.wait(), 0) << testing::read_file(log);
  EXPECT_THAT(testing::read_file(log), HasSubstr("NUM SAMPLES"));
}

INSTANTIATE_TEST_SUITE_P(Versions, EndToEnd,
                         ::testing::Values(Case{"1.81.9", "all"}, Case{"1.106.12", "all"},
                                           Case{"1.99.4", "soak"}, Case{"1.81.9", "demo"}),
                         [](const auto& test) {
                           std::string name = test.param.version + "_" + test.param.scenario;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace outcomed::sim
