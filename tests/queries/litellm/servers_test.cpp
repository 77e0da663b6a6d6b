// One gateway scraped side by side by four servers: raw samples of each give the clients' counts,
// where the servers' own increase() is off by up to 19 %.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "queries/counters/counter_reader.h"
#include "queries/litellm/preset.h"
#include "queries/prometheus/query_reply.h"
#include "tests/support/client_truth.h"
#include "tests/support/gzip_lines.h"

namespace outcomed {
namespace {

using testing::Truth;

class Servers : public ::testing::TestWithParam<std::string> {};

SignalPlan requests_plan() {
  SignalPlan plan = litellm::signals({}).front();
  plan.labels = {"model"};
  plan.failure_labels = {"error_class"};
  return plan;
}

TEST_P(Servers, GiveTheClientsFailuresExactlyByModelAndClass) {
  const std::string folder = std::string(OUTCOMED_DATA) + "/litellm/1.106.12-servers/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "not here: " << folder;
  Truth truth =
      testing::truth_between(testing::read_client_requests(folder + "requests.jsonl.gz"), 0, 1e12);
  // Unknown names are one label since 1.106.
  truth.n["other"] = truth.n.extract("nosuch").mapped();
  truth.k[{"other", "invalid_request"}] = truth.k.extract({"nosuch", "invalid_request"}).mapped();

  CounterReader reader({requests_plan()});
  const Timestamp end = from_unix_ms(1'796'008'620'000);
  reader.begin({end - std::chrono::minutes(30), end});
  for (const std::string& line : testing::read_gzip_lines(folder + GetParam() + ".jsonl.gz")) {
    std::string body = nlohmann::json::parse(line).at("reply").dump();
    const auto info = decode_query_reply(body, reader);
    ASSERT_TRUE(info) << info.error().message;
  }
  const Fetch fetch = reader.finish();

  Truth ours;
  std::int64_t failures = 0;
  const SignalBatch& batch = fetch.batches.front();
  for (std::size_t cell = 0; cell < reader.cells(0).size(); ++cell) {
    const Labels& labels = reader.cells(0)[cell];
    for (std::size_t step = 0; step < batch.steps(); ++step) {
      const std::size_t at = cell * batch.steps() + step;
      if (batch.n[at] != 0) ours.n[std::string(labels.get("model"))] += batch.n[at];
      if (batch.k[at] == 0) continue;
      ours.k[{std::string(labels.get("model")), std::string(labels.get("error_class"))}] +=
          batch.k[at];
      failures += batch.k[at];
    }
  }
  EXPECT_EQ(failures, 252);
  EXPECT_EQ(ours.n["flaky"], 405) << "the model whose requests a fallback served";
  EXPECT_EQ(ours.k, truth.k);
  EXPECT_EQ(ours.n, truth.n);
}

INSTANTIATE_TEST_SUITE_P(OfOneGateway, Servers,
                         ::testing::Values("prometheus-2.42", "prometheus-3.16",
                                           "prometheus-3.16-zero-ingestion",
                                           "victoriametrics-1.79"),
                         [](const auto& server) {
                           std::string name = server.param;
                           std::erase_if(name, [](char c) { return !std::isalnum(c); });
                           return name;
                         });

}  // namespace
}  // namespace outcomed
