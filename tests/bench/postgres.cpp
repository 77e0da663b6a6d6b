// What one tick and a backfill of nine days cost on a table filled by spend_logs.sql, as JSON;
// tests/bench/postgres.py runs it.
//   postgres_bench PORT UNTIL-UNIX-SECONDS
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>

#include "daemon/net/secret_reader.h"
#include "daemon/sql/pq_client.h"
#include "queries/litellm/spend_signals.h"
#include "queries/postgres/postgres_source.h"

namespace outcomed {
namespace {

long resident_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
  }
  return 0;
}

double now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::unique_ptr<PostgresSource> make(int port, SecretReader& secrets) {
  PostgresSettings settings;
  settings.access.host = "127.0.0.1";
  settings.access.port = port;
  settings.access.dbname = "postgres";
  settings.access.user = "reader";
  settings.access.sslmode = "disable";
  settings.timeout = 60s;
  std::vector<SignalPlan> plans = litellm::spend_signals({"ledger"});
  for (SignalPlan& plan : plans) {
    std::erase_if(plan.labels, [](const std::string& label) {
      return label != "model" && label != "kind" && label != "side" && label != "consumer";
    });
    std::erase_if(plan.failure_labels,
                  [](const std::string& label) { return label != "error_class"; });
  }
  auto source = PostgresSource::make(settings, plans, std::make_shared<PqClient>(secrets));
  if (!source) std::exit(1);
  return *std::move(source);
}

int run(int port, Timestamp until) {
  FileSecretReader secrets(process_environment());
  auto source = make(port, secrets);
  std::vector<double> took;
  std::uint64_t before = 0;
  std::vector<double> rows;
  Timestamp at = floor_to(until, 1min) - 3h;
  for (int i = 0; i < 120; ++i, at += 1min) {
    const double began = now_ms();
    const auto fetch = source->fetch({at, at + 1min});
    if (!fetch) return std::printf("%s\n", fetch.error().message.c_str()), 1;
    if (i >= 10) took.push_back(now_ms() - began);  // The first learn the table.
    if (i >= 10) rows.push_back(static_cast<double>(source->rows_read() - before));
    before = source->rows_read();
  }
  const long after_ticks = resident_kb();
  double mean_rows = 0;
  for (const double count : rows) mean_rows += count / static_cast<double>(rows.size());
  std::ranges::sort(took);
  std::printf(
      "{\"tick_ms\": %.3f, \"worst_tick_ms\": %.3f, \"tick_rows\": %.1f, \"tick_kb\": %ld, ",
      took[took.size() / 2], took.back(), mean_rows, after_ticks);

  source = make(port, secrets);
  const Timestamp begin = floor_to(until, 1min) - 10 * 24h;
  const double began = now_ms();
  const std::clock_t cpu_before = std::clock();
  for (int day = 0; day < 9; ++day) {
    const auto fetch = source->fetch({begin + day * 24h, begin + (day + 1) * 24h});
    if (!fetch) return std::printf("%s\n", fetch.error().message.c_str()), 1;
  }
  const double seconds = (now_ms() - began) / 1000;
  std::printf(
      "\"backfill_rows\": %llu, \"backfill_seconds\": %.3f, \"backfill_cpu\": %.3f, "
      "\"backfill_kb\": %ld}\n",
      static_cast<unsigned long long>(source->rows_read()), seconds,
      double(std::clock() - cpu_before) / CLOCKS_PER_SEC, resident_kb());
  return 0;
}

}  // namespace
}  // namespace outcomed

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return outcomed::run(std::stoi(argv[1]), outcomed::from_unix_ms(std::stoll(argv[2]) * 1000));
}
