// What becomes of alerts while the database can't be read: the engine on a real server.
#include <functional>

#include "tests/daemon/sql/alert_world.h"
#include "tests/daemon/sql/sql_fixture.h"

namespace outcomed {
namespace {

using testing::AlertWorld;
using testing::SqlTest;

constexpr Timestamp kNoon = from_unix_ms(1'796'040'000'000);  // 2026-11-30T12:00:00Z

class SqlAlerts;

struct Fault {
  std::string name;
  std::function<void(SqlAlerts&)> happen;
  std::function<void(SqlAlerts&)> mend;
  std::string words;  // What source_down says.
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class SqlAlerts : public SqlTest, public ::testing::WithParamInterface<Fault> {
 public:
  void SetUp() override {
    SqlTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    make_table();
    settings_.timeout = 400ms;
    const SignalPlan plan = preset("requests", {"model"}, {"error_class"});
    make_source({plan});
    world_ = std::make_unique<AlertWorld>(
        *source_, std::vector{plan}, std::vector{testing::share_rule(plan, "model_failures", 0.1)},
        kNoon - 10min);
    ASSERT_TRUE(world_->restored());
  }
  void TearDown() override {
    world_.reset();
    SqlTest::TearDown();
  }

  void run(const std::string& text) { sql(text); }
  static testing::RealPostgres& postgres() { return server(); }
  void end_connections() {
    sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = "
        "'outcomed'");
  }

  // A minute with 20 requests for the judge, k of them failed.
  void minute(int number, int k) {
    for (int i = 0; i < 20; ++i) {
      add_row("m" + std::to_string(number) + "-" + std::to_string(i),
              kNoon + number * 1min + i * 1s, 1s, "judge", i < k ? "failure" : "success");
    }
    flush();
  }
  TickReport tick(int number) { return world_->tick(kNoon + (number + 1) * 1min); }
  bool is_open(const std::string& rule) const { return world_->is_open(rule); }

 protected:
  std::unique_ptr<AlertWorld> world_;
};

TEST_P(SqlAlerts, StandStillAndOneSaysThatTheSourceIsAway) {
  const Fault& fault = GetParam();
  for (int i = 0; i < 6; ++i) {
    minute(i, 10);
    tick(i);
  }
  ASSERT_TRUE(is_open("model_failures"));
  EXPECT_FALSE(is_open("source_down"));

  fault.happen(*this);
  std::size_t episodes = 0;
  std::string message;
  for (int i = 6; i < 13; ++i) {
    const TickReport report = tick(i);
    episodes += report.episodes.size();
    ASSERT_TRUE(report.sources.front().error.has_value()) << fault.name << " " << i;
    message = report.sources.front().error->message;
  }
  EXPECT_TRUE(is_open("model_failures"));
  EXPECT_TRUE(is_open("source_down"));
  EXPECT_EQ(world_->open(), 2U);
  EXPECT_EQ(episodes, 1U);
  EXPECT_NE(message.find(fault.words), std::string::npos) << message;

  fault.mend(*this);
  for (int i = 6; i < 20; ++i) minute(i, 0);  // It was well all the while.
  tick(19);
  tick(20);
  EXPECT_FALSE(is_open("model_failures"));
  EXPECT_FALSE(is_open("source_down"));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, SqlAlerts,
    ::testing::Values(
        Fault{
            "PermissionDenied",
            [](SqlAlerts& world) {
              world.run("revoke select on \"LiteLLM_SpendLogs\" from reader");
            },
            [](SqlAlerts& world) { world.run("grant select on \"LiteLLM_SpendLogs\" to reader"); },
            "permission denied"},
        Fault{"RenamedColumn",
              [](SqlAlerts& world) {
                world.run("alter table \"LiteLLM_SpendLogs\" rename \"endTime\" to ended");
              },
              [](SqlAlerts& world) {
                world.run("alter table \"LiteLLM_SpendLogs\" rename ended to \"endTime\"");
              },
              "has no column \"endTime\""},
        Fault{"TooManyConnections",
              [](SqlAlerts& world) {
                world.run("alter role reader connection limit 0");
                world.end_connections();
              },
              [](SqlAlerts& world) { world.run("alter role reader connection limit -1"); },
              "too many connections"},
        Fault{"ServerDown", [](SqlAlerts&) { SqlAlerts::postgres().stop(SIGINT); },
              [](SqlAlerts&) { SqlAlerts::postgres().start(); }, "refused"},
        Fault{"ServerFrozen",
              [](SqlAlerts& world) {
                world.end_connections();
                kill(SqlAlerts::postgres().pid(), SIGSTOP);
              },
              [](SqlAlerts&) { kill(SqlAlerts::postgres().pid(), SIGCONT); },
              "no connection in time"},
        Fault{
            "SlowTable",
            [](SqlAlerts& world) {
              // Any statement on it takes a minute.
              world.run(
                  "alter table \"LiteLLM_SpendLogs\" rename to logs; create view "
                  "\"LiteLLM_SpendLogs\" as select l.* from logs l, (select pg_sleep(60)) s; grant "
                  "select on \"LiteLLM_SpendLogs\" to reader");
            },
            [](SqlAlerts& world) {
              world.run(
                  "drop view \"LiteLLM_SpendLogs\"; alter table logs rename to "
                  "\"LiteLLM_SpendLogs\"");
            },
            "57014"}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace outcomed
