// What alerts become of rows as real gateways and databases have them: late, odd, through
// connections that break, and of requests that left the house.
#include <functional>

#include "detectors/price/price.h"
#include "tests/daemon/sql/alert_world.h"
#include "tests/daemon/sql/sql_fixture.h"

namespace outcomed {
namespace {

using testing::AlertWorld;
using testing::SqlTest;

constexpr Timestamp kNoon = from_unix_ms(1'796'040'000'000);  // 2026-11-30T12:00:00Z

class RowAlerts : public SqlTest {
 public:
  void TearDown() override {
    world_.reset();
    SqlTest::TearDown();
  }
  void watch(const SignalPlan& plan, const RuleSpec& rule) {
    make_source({plan});
    world_ = std::make_unique<AlertWorld>(*source_, std::vector{plan}, std::vector{rule}, kNoon);
    ASSERT_TRUE(world_->restored());
  }
  void watch_failures() {
    const SignalPlan plan = preset("requests", {"model"}, {"error_class"});
    watch(plan, testing::share_rule(plan, "model_failures", 0.1));
  }
  // 20 requests of a minute, k of them failed.
  void minute(int number, int k, const std::string& what = "m") {
    for (int i = 0; i < 20; ++i) {
      add_row(what + std::to_string(number) + "-" + std::to_string(i),
              kNoon + number * 1min + i * 1s, 1s, "judge", i < k ? "failure" : "success");
    }
    flush();
  }
  TickReport tick(int number) { return world_->tick(kNoon + (number + 1) * 1min); }
  std::string backend() {
    return ask(
        "select pid from pg_stat_activity where application_name = 'outcomed' and datname = "
        "current_database()");
  }
  void run(const std::string& text) { sql(text); }

 protected:
  static std::vector<std::string> facts(const Episode& episode, const std::string& name) {
    std::vector<std::string> found;
    for (const auto& [key, value] : episode.facts) {
      if (key == name) found.push_back(value);
    }
    return found;
  }
  std::unique_ptr<AlertWorld> world_;
};

// ---- Connections that break and come back at once: no alert of ours, and none of the rules' lost.

struct Hiccup {
  std::string name;
  std::function<void(RowAlerts&)> happen;  // Before a tick.
  std::function<void(RowAlerts&)> pass;    // After it.
  bool costs_a_tick = false;
};
void PrintTo(const Hiccup& hiccup, std::ostream* out) { *out << hiccup.name; }

class Hiccups : public RowAlerts, public ::testing::WithParamInterface<Hiccup> {};

TEST_P(Hiccups, NeitherFireNorResolveAnything) {
  make_table();
  settings_.timeout = 1s;
  watch_failures();
  for (int i = 0; i < 4; ++i) {
    minute(i, 10);
    tick(i);
  }
  ASSERT_TRUE(world_->is_open("model_failures"));
  for (int i = 4; i < 7; ++i) {
    minute(i, 10);
    GetParam().happen(*this);
    const TickReport report = tick(i);
    GetParam().pass(*this);
    EXPECT_EQ(report.sources.front().error.has_value(), GetParam().costs_a_tick) << i;
    EXPECT_TRUE(world_->is_open("model_failures"));
    const TickReport next = tick(i);  // What was missed is read at the next tick.
    EXPECT_FALSE(next.sources.front().error.has_value()) << i;
  }
  for (int i = 7; i < 14; ++i) {
    minute(i, 0);
    tick(i);
  }
  ASSERT_EQ(world_->episodes("model_failures").size(), 1U);
  EXPECT_EQ(world_->episodes("model_failures")[0].resolve_reason, "recovered");
  EXPECT_TRUE(world_->episodes("source_down").empty());
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Hiccups,
    ::testing::Values(Hiccup{"BackendTerminated",
                             [](RowAlerts& world) {
                               world.run("select pg_terminate_backend(" + world.backend() + ")");
                             },
                             [](RowAlerts&) {}},
                      Hiccup{"BackendFrozen",
                             [](RowAlerts& world) { kill(std::stoi(world.backend()), SIGSTOP); },
                             [](RowAlerts& world) {
                               // All there are: the frozen one, if the server still has it.
                               std::istringstream backends(world.backend());
                               for (std::string pid; std::getline(backends, pid);)
                                 kill(std::stoi(pid), SIGCONT);
                             },
                             true},
                      Hiccup{"FailoverToReadOnly",
                             [](RowAlerts& world) {
                               world.run(
                                   "alter role reader set default_transaction_read_only = on");
                               world.run("select pg_terminate_backend(" + world.backend() + ")");
                             },
                             [](RowAlerts& world) {
                               world.run("alter role reader reset default_transaction_read_only");
                             }}),
    [](const auto& instance) { return instance.param.name; });

// ---- Rows.

TEST_F(RowAlerts, FireOnceForFailuresThatAppearLate) {
  make_table();
  watch_failures();
  for (int i = 0; i < 5; ++i) {
    minute(i, 0);
    tick(i);
  }
  EXPECT_EQ(world_->open(), 0U);
  minute(2, 18, "late");  // Minutes after they ended, in one batch.
  for (int i = 5; i < 30; ++i) {
    minute(i, 0);
    tick(i);
  }
  ASSERT_EQ(world_->episodes("model_failures").size(), 1U);
  EXPECT_EQ(world_->episodes("model_failures")[0].k, 18);
  EXPECT_EQ(world_->open(), 0U);
}

TEST_F(RowAlerts, AreRightForNullsOddTypesAndBytesThatAreNoText) {
  sql("create database ascii_alerts encoding 'SQL_ASCII' template template0");
  const std::string utf8 = std::exchange(database_, "ascii_alerts");
  settings_.access.dbname = database_;
  make_table();
  sql("alter table \"LiteLLM_SpendLogs\" alter column spend drop not null, alter column spend type "
      "text, alter column prompt_tokens type numeric, alter column completion_tokens type text");
  watch_failures();
  for (int i = 0; i < 4; ++i) {
    minute(i, 10);
    sql("update \"LiteLLM_SpendLogs\" set model_group = E'gpt\\xff', model_id = null, team_id = "
        "null, "
        "spend = case when request_id like '%1' then 'NaN' end, prompt_tokens = 'NaN', "
        "completion_tokens = '99999999999999999999'");
    tick(i);
  }
  ASSERT_EQ(world_->episodes("model_failures").size(), 1U);
  EXPECT_EQ(world_->episodes("model_failures")[0].key.group.get("model"), "gpt\xef\xbf\xbd");
  EXPECT_TRUE(world_->episodes("source_down").empty());
  world_.reset();
  source_.reset();
  database_ = utf8;
  sql("drop database ascii_alerts with (force)");
}

TEST_F(RowAlerts, StandStillWhileAQueryOfOnesOwnReturnsNumbersThatAreNone) {
  sql("create table scores (at timestamptz, n float8, k float8)");
  grant();
  SignalPlan plan;
  plan.name = "judge_pass";
  plan.sql = "select at, n, k from scores where at >= :from and at < :to";
  watch(plan, testing::share_rule(plan, "judged", 0.1, {}));
  const auto score = [&](int number, const std::string& n, const std::string& k) {
    sql("insert into scores values ('" + format_rfc3339(kNoon + number * 1min) + "', " + n + ", " +
        k + ")");
    tick(number);
  };
  for (int i = 0; i < 3; ++i) score(i, "20", "10");
  ASSERT_TRUE(world_->is_open("judged"));
  for (int i = 3; i < 7; ++i) score(i, "'NaN'", "0");
  EXPECT_TRUE(world_->is_open("judged"));
  // It was said that the numbers are no numbers, and that stays so until they are.
  for (int i = 7; i < 9; ++i) score(i, "'NaN'", "0");
  EXPECT_TRUE(world_->is_open("source_down"));
  for (int i = 9; i < 16; ++i) score(i, "20", "0");
  EXPECT_EQ(world_->open(), 0U);
  EXPECT_EQ(world_->episodes("judged").size(), 1U);
}

TEST_F(RowAlerts, SayThatTokensCostNothing) {
  make_table();
  const SignalPlan plan = preset("spend", {"model", "kind"});
  RuleSpec rule = testing::share_rule(plan, "price_drift", 0.1);
  rule.kind = "price";
  PriceParams params;
  params.window = 5min;
  rule.detector =
      std::make_shared<PriceDetector>(params, SignalWords{plan.unit, plan.outcome, plan.step});
  watch(plan, rule);
  // Without a price table nothing can be said of rows with a cost: the alert is given up.
  for (int i = 0; i < 14; ++i) {
    minute(i, 0);
    sql("update \"LiteLLM_SpendLogs\" set prompt_tokens = 50, completion_tokens = 20, spend = " +
        std::string(i < 3 ? "0" : "0.001"));
    tick(i);
    EXPECT_TRUE(i != 2 || world_->is_open("price_drift"));
  }
  EXPECT_EQ(world_->open(), 0U);
  ASSERT_EQ(world_->episodes("price_drift").size(), 1U);
  EXPECT_NE(world_->episodes("price_drift")[0].sentence.find("have tokens and no cost"),
            std::string::npos)
      << world_->episodes("price_drift")[0].sentence;
}

// ---- Requests that left the house.

TEST_F(RowAlerts, PageOnTheFirstRequestThatLeftAndNameIt) {
  make_table();
  const SignalPlan plan = preset("leaks", {"model"}, {"served_by", "way"},
                                 {.keep_private = {{"private/*"}, {{"corp.example"}}}});
  watch(plan, testing::share_rule(plan, "private_data_left", 0, {"model", "served_by", "way"}, 1));
  const auto serve = [&](const std::string& id, int number, const std::string& base,
                         const std::string& group = "private/qwen") {
    insert(id, kNoon + number * 1min + 5s, 1s, group);
    sql("update \"LiteLLM_SpendLogs\" set api_base = '" + base +
        "', model = 'openai/qwen', custom_llm_provider = 'openai', api_key = 'hash', metadata = "
        "'{\"original_model_group\": \"private/qwen\", \"user_api_key_alias\": \"batch\"}' where "
        "request_id = '" +
        id + "'");
  };
  for (int i = 0; i < 3; ++i) {
    for (const char* host : {"http://10.0.0.7:8000/v1", "https://llm.corp.example/v1"}) {
      serve("in" + std::to_string(i) + host, i, host);
    }
    tick(i);
  }
  EXPECT_EQ(world_->open(), 0U);
  serve("chatcmpl-cloud", 3, "https://api.cloud.example/v1");
  serve("chatcmpl-other", 3, "https://api.cloud.example/v1", "gpt-4o");
  tick(3);
  const auto episodes = world_->episodes("private_data_left");
  ASSERT_EQ(episodes.size(), 2U) << "two ways out";
  for (const Episode& episode : episodes) {
    const bool fallback = episode.key.group.get("way") == "fallback";
    EXPECT_EQ(episode.k, 1);
    EXPECT_EQ(
        facts(episode, "request"),
        (std::vector<std::string>{std::string(fallback ? "chatcmpl-other" : "chatcmpl-cloud") +
                                  ", ended 2026-11-30T12:03:05Z, of batch, sent to "
                                  "api.cloud.example"}));
    EXPECT_NE(episode.sentence.find("were sent outside"), std::string::npos) << episode.sentence;
  }
  // Sweeps read the rows again: once is enough.
  for (int i = 4; i < 20; ++i) tick(i);
  EXPECT_EQ(world_->episodes("private_data_left").size(), 2U);
}

}  // namespace
}  // namespace outcomed
