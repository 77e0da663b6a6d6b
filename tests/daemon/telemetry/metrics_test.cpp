// The page that others scrape: names and values they rely on, and Prometheus' own opinion of it.
#include "daemon/telemetry/metrics.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/support/peer_process.h"

namespace outcomed::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Series and value of each line that is not a comment.
std::map<std::string, double> samples(const std::string& page) {
  std::map<std::string, double> found;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto blank = line.rfind(' ');
    const bool fresh = found.emplace(line.substr(0, blank), std::stod(line.substr(blank))).second;
    EXPECT_TRUE(fresh) << "twice: " << line;
  }
  return found;
}

std::unique_ptr<Metrics> busy_metrics() {
  auto metrics = std::make_unique<Metrics>("1.2.3", from_unix_ms(1'796'000'000'500));
  metrics->ticked(120ms, 40ms, 2);
  metrics->fetched("prom", 80ms, 9);
  metrics->fetch_failed("prom", ErrorKind::timeout);
  metrics->watermark("prom", from_unix_ms(1'796'000'040'000));
  metrics->problem("prom", "late_samples");
  metrics->alerts("firing", 3);
  metrics->episode("fired");
  metrics->outbox("oncall", 4, 90s);
  metrics->delivered("oncall", "retry", 1s);
  metrics->committed(false);
  metrics->reloaded(true, from_unix_ms(1'796'000'001'000));
  metrics->reloaded(false, from_unix_ms(1'796'000'002'000));
  metrics->warned();
  return metrics;
}

TEST(MetricsTest, ThePageTellsWhatHappened) {
  const auto found = samples(busy_metrics()->page());
  const std::map<std::string, double> expected = {
      {R"(outcomed_build_info{version="1.2.3"})", 1},
      {"outcomed_ticks_total", 1},
      {"outcomed_ticks_missed_total", 2},
      {"outcomed_tick_duration_seconds_sum", 0.12},
      {"outcomed_tick_duration_seconds_count", 1},
      {R"(outcomed_tick_duration_seconds_bucket{le="0.1"})", 0},
      {R"(outcomed_tick_duration_seconds_bucket{le="0.25"})", 1},
      {R"(outcomed_tick_duration_seconds_bucket{le="+Inf"})", 1},
      {"outcomed_tick_lateness_seconds_sum", 0.04},
      {R"(outcomed_fetch_duration_seconds_sum{source="prom"})", 0.08},
      {R"(outcomed_fetch_errors_total{kind="timeout",source="prom"})", 1},
      {R"(outcomed_buckets_total{source="prom"})", 9},
      {R"(outcomed_watermark_timestamp_seconds{source="prom"})", 1'796'000'040},
      {R"(outcomed_data_problems_total{source="prom",what="late_samples"})", 1},
      {R"(outcomed_alerts{phase="firing"})", 3},
      {R"(outcomed_alerts{phase="pending"})", 0},
      {R"(outcomed_episodes_total{change="fired"})", 1},
      {R"(outcomed_outbox_rows{receiver="oncall"})", 4},
      {R"(outcomed_outbox_oldest_seconds{receiver="oncall"})", 90},
      {R"(outcomed_deliveries_total{receiver="oncall",result="retry"})", 1},
      {R"(outcomed_delivery_duration_seconds_sum{receiver="oncall"})", 1},
      {R"(outcomed_store_commits_total{result="error"})", 1},
      {R"(outcomed_store_commits_total{result="success"})", 0},
      {"outcomed_config_last_reload_successful", 0},
      {"outcomed_config_last_reload_success_timestamp_seconds", 1'796'000'001},
      {"outcomed_log_warnings_total", 1},
      {"process_start_time_seconds", 1'796'000'000.5},
  };
  for (const auto& [series, value] : expected) {
    ASSERT_TRUE(found.count(series)) << series;
    EXPECT_DOUBLE_EQ(found.at(series), value) << series;
  }
}

TEST(MetricsTest, WhatNeverHappenedIsZeroAndNotAbsent) {
  const auto found = samples(Metrics("1", Timestamp{}).page());
  for (const std::string series :
       {"outcomed_ticks_total", "outcomed_ticks_missed_total", "outcomed_log_warnings_total",
        R"(outcomed_alerts{phase="firing"})", R"(outcomed_store_commits_total{result="error"})"}) {
    ASSERT_TRUE(found.count(series)) << series;
    EXPECT_EQ(found.at(series), 0);
  }
}

TEST(MetricsTest, NamesFromTheConfigurationCannotForgeLines) {
  Metrics metrics("1", Timestamp{});
  metrics.fetch_failed("a\"} 1\nforged_total 7\\", ErrorKind::invalid);
  EXPECT_THAT(metrics.page(), HasSubstr(R"(source="a\"} 1\nforged_total 7\\")"));
  EXPECT_EQ(samples(metrics.page()).count("forged_total"), 0U);
}

TEST(MetricsTest, TheProcessIsMeasured) {
  const Metrics metrics("1", Timestamp{});
  const auto before = samples(metrics.page());
  EXPECT_GT(before.at("process_resident_memory_bytes"), 1e6);
  EXPECT_GT(before.at("process_virtual_memory_bytes"), before.at("process_resident_memory_bytes"));
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(before.at("process_max_fds"), static_cast<double>(limit.rlim_cur));
  const int file = open("/dev/null", O_RDONLY);
  EXPECT_EQ(samples(metrics.page()).at("process_open_fds"), before.at("process_open_fds") + 1);
  close(file);
  // Burn CPU until the kernel's clock (ten milliseconds a tick) shows it.
  while (samples(metrics.page()).at("process_cpu_seconds_total") <=
         before.at("process_cpu_seconds_total")) {
  }
}

TEST(MetricsTest, ManyThreadsCountExactly) {
  Metrics metrics("1", Timestamp{});
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        metrics.delivered("r" + std::to_string(i % 5), "delivered", 1ms);
        if (i % 100 == 0) (void)metrics.page();
      }
    });
  }
  threads.clear();
  const auto found = samples(metrics.page());
  double sum = 0;
  for (int r = 0; r < 5; ++r) {
    sum += found.at("outcomed_deliveries_total{receiver=\"r" + std::to_string(r) +
                    "\",result=\"delivered\"}");
  }
  EXPECT_EQ(sum, 8 * 500);
}

TEST(MetricsTest, PromtoolHasNothingToSay) {
  if (const std::string missing = missing_peer("promtool"); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  const PeerFolder folder;
  std::ofstream(folder / "page") << busy_metrics()->page();
  const std::string command =
      (peers_folder() / "bin/promtool").string() + " check metrics <" + (folder / "page") + " 2>&1";
  FILE* promtool = popen(command.c_str(), "r");
  ASSERT_NE(promtool, nullptr);
  std::string said;
  for (int c = 0; (c = std::fgetc(promtool)) != EOF;) said += static_cast<char>(c);
  EXPECT_EQ(pclose(promtool), 0) << said;
  EXPECT_EQ(said, "");
}

}  // namespace
}  // namespace outcomed::testing
