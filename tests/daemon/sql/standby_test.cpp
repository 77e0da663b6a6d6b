// A primary and its hot standby: reading from the standby, its promotion, and its taking over the
// primary's address.
#include "tests/daemon/sql/alert_world.h"
#include "tests/daemon/sql/sql_fixture.h"

namespace outcomed {
namespace {

using testing::AlertWorld;
using testing::RealPostgres;

constexpr Timestamp kNoon = from_unix_ms(1'796'040'000'000);  // 2026-11-30T12:00:00Z

class Standby : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = testing::missing_peer("postgres"); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
    primary_ = std::make_unique<RealPostgres>("UTF8", "wal_level = replica\nmax_wal_senders = 4");
    ASSERT_EQ(primary_->error(), "");
    ASSERT_TRUE(primary_->sql("postgres", testing::kMinimalSpendLogs));
    ASSERT_TRUE(
        primary_->sql("postgres",
                      "create role reader login; grant select on all tables in schema public "
                      "to reader"));
    standby_ = std::make_unique<RealPostgres>(testing::StandbyOf{*primary_});
    ASSERT_EQ(standby_->error(), "");
    ASSERT_EQ(standby_->ask("postgres", "select pg_is_in_recovery()"), "t");
  }
  void TearDown() override {
    world_.reset();
    source_.reset();
    standby_.reset();
    primary_.reset();
  }

  void read_from(const RealPostgres& server) {
    PostgresSettings settings;
    settings.access.host = "127.0.0.1";
    settings.access.port = server.port();
    settings.access.dbname = "postgres";
    settings.access.user = "reader";
    settings.access.sslmode = "disable";
    settings.timeout = 2s;
    SignalPlan plan;
    for (SignalPlan& one : litellm::spend_signals({"ledger"})) {
      if (one.name == "requests") plan = std::move(one);
    }
    plan.labels = {"model"};
    plan.failure_labels = {"error_class"};
    auto made = PostgresSource::make(settings, {plan}, client_);
    ASSERT_TRUE(made) << made.error().message;
    source_ = *std::move(made);
    world_ = std::make_unique<AlertWorld>(
        *source_, std::vector{plan}, std::vector{testing::share_rule(plan, "model_failures", 0.1)},
        kNoon);
    ASSERT_TRUE(world_->restored());
  }
  // A minute with 20 requests, k of them failed; `seen_by`: and waits until that server has it.
  void minute(RealPostgres& server, int number, int k, RealPostgres* seen_by = nullptr) {
    const std::string begin = format_rfc3339(kNoon + number * 1min);
    ASSERT_TRUE(server.sql(
        "postgres",
        "insert into \"LiteLLM_SpendLogs\" (request_id, \"startTime\", \"endTime\", model_group, "
        "status, metadata) select 'm" +
            std::to_string(number) + "-' || i, timestamp '" + begin + "', timestamp '" + begin +
            "' + i * interval '1 s', 'judge', case when i < " + std::to_string(k) +
            " then 'failure' else 'success' end, case when i < " + std::to_string(k) +
            " then '{\"error_information\": {\"error_class\": \"InternalServerError\", "
            "\"error_code\": \"500\", \"llm_provider\": \"openai\"}}' else '{}' end::jsonb from "
            "generate_series(0, 19) i"))
        << server.log_text();
    if (seen_by == nullptr) return;
    const std::string last = "select count(*) from \"LiteLLM_SpendLogs\" where request_id = 'm" +
                             std::to_string(number) + "-19'";
    ASSERT_TRUE(testing::wait_until([&] { return seen_by->ask("postgres", last) == "1"; }));
  }
  TickReport tick(int number) { return world_->tick(kNoon + (number + 1) * 1min); }
  void promote() {
    ASSERT_EQ(standby_->ask("postgres", "select pg_promote()"), "t") << standby_->log_text();
    ASSERT_EQ(standby_->ask("postgres", "select pg_is_in_recovery()"), "f");
  }

  FileSecretReader secrets_{process_environment()};
  std::shared_ptr<PqClient> client_ = std::make_shared<PqClient>(secrets_);
  std::unique_ptr<RealPostgres> primary_;
  std::unique_ptr<RealPostgres> standby_;
  std::unique_ptr<PostgresSource> source_;
  std::unique_ptr<AlertWorld> world_;
};

TEST_F(Standby, IsReadAndGoesOnBeingReadWhenItIsPromoted) {
  read_from(*standby_);
  for (int i = 0; i < 3; ++i) {
    minute(*primary_, i, 10, standby_.get());
    EXPECT_FALSE(tick(i).sources.front().error);
  }
  ASSERT_TRUE(world_->is_open("model_failures"));
  const Episode fired = world_->episodes("model_failures").front();
  EXPECT_TRUE(std::ranges::any_of(fired.facts, [](const auto& fact) {
    return fact.second == "the rows come from a standby, which may lag behind";
  }));
  primary_->stop(SIGQUIT);
  EXPECT_FALSE(tick(3).sources.front().error) << "it can be read without its primary";
  promote();
  for (int i = 4; i < 12; ++i) {
    minute(*standby_, i, 0);
    EXPECT_FALSE(tick(i).sources.front().error);
  }
  EXPECT_EQ(world_->open(), 0U);
  EXPECT_TRUE(world_->episodes("source_down").empty());
  EXPECT_EQ(world_->episodes("model_failures").size(), 1U);
}

TEST_F(Standby, ThatTakesOverTheAddressEndsTheOutage) {
  read_from(*primary_);
  for (int i = 0; i < 3; ++i) {
    minute(*primary_, i, 10, standby_.get());
    EXPECT_FALSE(tick(i).sources.front().error);
  }
  ASSERT_TRUE(world_->is_open("model_failures"));
  primary_->stop(SIGQUIT);
  for (int i = 3; i < 10; ++i) EXPECT_TRUE(tick(i).sources.front().error);
  EXPECT_TRUE(world_->is_open("source_down"));
  EXPECT_TRUE(world_->is_open("model_failures")) << "nobody knows that it is over";
  promote();
  standby_->stop(SIGINT);
  standby_->move_to(primary_->port());
  standby_->start();
  ASSERT_EQ(standby_->error(), "");
  for (int i = 3; i < 14; ++i) minute(*standby_, i, 0);
  for (int i = 10; i < 14; ++i) EXPECT_FALSE(tick(i).sources.front().error);
  EXPECT_EQ(world_->open(), 0U);
  EXPECT_EQ(world_->episodes("source_down").size(), 1U);
  EXPECT_EQ(world_->episodes("model_failures").size(), 1U);
}

}  // namespace
}  // namespace outcomed
