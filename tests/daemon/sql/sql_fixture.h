// One PostgreSQL for all tests of this program; each test has a database and a reader's role in it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "daemon/net/secret_reader.h"
#include "daemon/sql/pq_client.h"
#include "queries/litellm/spend_signals.h"
#include "queries/postgres/postgres_source.h"
#include "tests/support/spend_logs_schema.h"

namespace outcomed::testing {

inline RealPostgres& shared_server() {
  static RealPostgres server;
  return server;
}

// A version whose rows were recorded.
struct RecordedGateway {
  std::string version;
  std::string extras;  // Version of litellm-proxy-extras with its migrations.
  bool says_asked_model = false;

  [[nodiscard]] std::string folder() const {
    return std::string(OUTCOMED_DATA) + "/litellm/" + version;
  }
  [[nodiscard]] bool is_here() const { return std::filesystem::exists(folder()); }
};
inline void PrintTo(const RecordedGateway& gateway, std::ostream* out) { *out << gateway.version; }
inline auto recorded_gateways() {
  return ::testing::Values(RecordedGateway{"1.81.9", "0.4.33"},
                           RecordedGateway{"1.106.12", "0.4.108", true});
}
inline std::string gateway_name(const ::testing::TestParamInfo<RecordedGateway>& instance) {
  std::string name = "v" + instance.param.version;
  std::ranges::replace(name, '.', '_');
  return name;
}

class SqlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = missing_peer("postgres"); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
    ASSERT_EQ(server().error(), "");
    static int number = 0;
    database_ = "test" + std::to_string(++number);
    ASSERT_TRUE(server().sql("postgres", "create database " + database_));
    server().sql("postgres", "create role reader login");  // Is there after the first test.
    settings_.access.host = "127.0.0.1";
    settings_.access.port = server().port();
    settings_.access.dbname = database_;
    settings_.access.user = "reader";
    settings_.access.sslmode = "disable";
    settings_.timeout = 3s;
  }
  void TearDown() override {
    source_.reset();
    if (!database_.empty()) {
      server().sql("postgres", "drop database if exists " + database_ + " with (force)");
    }
  }

  static RealPostgres& server() { return shared_server(); }
  void sql(const std::string& text) {
    ASSERT_TRUE(server().sql(database_, text)) << server().log_text();
  }
  std::string ask(const std::string& text) { return server().ask(database_, text); }

  void make_table() {
    sql(kMinimalSpendLogs);
    grant();
  }
  void grant() { sql("grant select on all tables in schema public to reader"); }

  // Its rows, in its own schema where that can be had.
  void load_gateway(const RecordedGateway& gateway) {
    const std::string migrations = genuine_migrations(gateway.extras);
    if (migrations.empty()) {
      std::cout << "hand-written schema: litellm-proxy-extras can't be had\n";
      make_table();
    } else {
      std::cout << "schema of litellm-proxy-extras " << gateway.extras << "\n";
      std::ofstream(server().folder() + "/migrations.sql") << migrations;
      ASSERT_TRUE(server().file(database_, server().folder() + "/migrations.sql"))
          << server().log_text();
      grant();
    }
    const auto rows = read_spend_rows(gateway.folder() + "/spendlogs.jsonl.gz");
    ASSERT_GT(rows.size(), 2000U);
    ASSERT_TRUE(load_spend_rows(server(), database_, rows)) << server().log_text();
    ASSERT_EQ(ask("select count(*) from \"LiteLLM_SpendLogs\""), std::to_string(rows.size()));
  }

  std::unique_ptr<SqlConnection> connect() {
    auto made = client_->connect(settings_.access, settings_.timeout);
    if (made) return *std::move(made);
    ADD_FAILURE() << made.error().message;
    return nullptr;
  }
  // The first value of the first row, or "ERROR …".
  static std::string value(SqlConnection& connection, const std::string& text,
                           Duration timeout = 3s, std::vector<SqlParameter> parameters = {}) {
    SqlQuery query;
    query.text = text;
    query.timeout = timeout;
    query.parameters = std::move(parameters);
    std::string first = "no row";
    query.on_row = [&](SqlRow row) {
      if (first == "no row") first = row[0] ? std::string(*row[0]) : "NULL";
      return ok();
    };
    const Status status = connection.query(query);
    if (status) return first;
    return "ERROR " + std::string(to_string(status.error().kind)) + ": " + status.error().message;
  }

  // A plan of the preset, with these labels.
  static SignalPlan preset(const std::string& name, std::vector<std::string> labels,
                           std::vector<std::string> failure_labels = {},
                           litellm::LedgerSettings ledger = {}) {
    litellm::SpendSettings settings{"ledger"};
    settings.ledger = std::move(ledger);
    for (SignalPlan& plan : litellm::spend_signals(settings)) {
      if (plan.name != name) continue;
      plan.labels = std::move(labels);
      plan.failure_labels = std::move(failure_labels);
      return plan;
    }
    return {};
  }
  void make_source(std::vector<SignalPlan> plans) {
    auto made = PostgresSource::make(settings_, std::move(plans), client_);
    ASSERT_TRUE(made) << made.error().message;
    source_ = *std::move(made);
  }
  // One row that ended at `end` after `took`.
  void insert(const std::string& id, Timestamp end, Duration took = 2s,
              const std::string& model = "judge", const std::string& status = "success") {
    add_row(id, end, took, model, status);
    flush();
  }
  // The same, with the next flush().
  void add_row(const std::string& id, Timestamp end, Duration took = 2s,
               const std::string& model = "judge", const std::string& status = "success") {
    const std::string metadata =
        status == "success" ? "{}" : R"({"error_information": {"error_class": "InternalServerError",
                                 "error_code": "500", "llm_provider": "openai"}})";
    waiting_ += (waiting_.empty() ? "('" : ", ('") + id + "', '" + format_rfc3339(end - took) +
                "', '" + format_rfc3339(end) + "', '" + model + "', '" + status + "', '" +
                metadata + "')";
  }
  void flush() {
    if (waiting_.empty()) return;
    sql("insert into \"LiteLLM_SpendLogs\" (request_id, \"startTime\", \"endTime\", model_group, "
        "status, metadata) values " +
        std::exchange(waiting_, {}));
  }
  static std::int64_t total(const SignalBatch& batch, bool k = false) {
    std::int64_t sum = 0;
    for (const std::int64_t value : k ? batch.k : batch.n) sum += value;
    return sum;
  }
  // n of the first signal over a range that must be readable.
  std::int64_t counted(TimeRange range) {
    auto fetch = source_->fetch(range);
    EXPECT_TRUE(fetch) << (fetch ? "" : fetch.error().message);
    last_problems_ = fetch ? fetch->problems : std::vector<Problem>{};
    return fetch ? total(fetch->batches.front()) : -1;
  }
  bool has_problem(const std::string& what) const {
    return std::ranges::any_of(last_problems_, [&](const Problem& p) { return p.what == what; });
  }

  FileSecretReader secrets_{process_environment()};
  std::shared_ptr<PqClient> client_ = std::make_shared<PqClient>(secrets_);
  std::string database_;
  PostgresSettings settings_;
  std::unique_ptr<PostgresSource> source_;
  std::vector<Problem> last_problems_;
  std::string waiting_;
};

}  // namespace outcomed::testing
