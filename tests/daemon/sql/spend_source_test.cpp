// The gateway's table read by a source: what is counted, when, and how often.
#include "tests/daemon/sql/sql_fixture.h"
#include "tests/support/client_truth.h"

namespace outcomed {
namespace {

using testing::RecordedGateway;
using testing::SqlTest;
using testing::Truth;

constexpr Timestamp kNoon = from_unix_ms(1'796'040'000'000);  // 2026-11-30T12:00:00Z

TimeRange minute(int number) { return {kNoon + number * 1min, kNoon + (number + 1) * 1min}; }

class SpendSource : public SqlTest {
 protected:
  void SetUp() override {
    SqlTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    make_table();
    make_source({preset("requests", {"model"}, {"error_class"})});
  }
};

TEST_F(SpendSource, CountsARowInTheMinuteInWhichItEnded) {
  insert("a", kNoon + 5s);
  insert("b", kNoon + 65s, 10min, "judge", "failure");
  insert("c", kNoon - 1s);
  auto fetch = source_->fetch({kNoon, kNoon + 2min});
  ASSERT_TRUE(fetch) << fetch.error().message;
  const SignalBatch& batch = fetch->batches.front();
  ASSERT_EQ(batch.steps(), 2U);
  ASSERT_EQ(source_->cells(0).size(), 2U);
  EXPECT_EQ(source_->cells(0)[0], (Labels{{"model", "judge"}}));
  EXPECT_EQ(source_->cells(0)[1],
            (Labels{{"model", "judge"}, {"error_class", "provider_unavailable"}}));
  EXPECT_EQ(batch.n, (std::vector<std::int64_t>{1, 1, 0, 0}));
  EXPECT_EQ(batch.k, (std::vector<std::int64_t>{0, 0, 0, 1}));
  EXPECT_EQ(batch.coverage, std::vector(2, Coverage::complete));
}

TEST_F(SpendSource, CountsLateBatchesOnceAndReadsARowAboutOnce) {
  // Each minute 20 rows end; the last of them appear 10 to 60 s later, or after the next tick.
  std::int64_t sum = 0;
  int rows = 0;
  const auto batch = [&](int of, int count, const std::string& what) {
    for (int i = 0; i < count; ++i) {
      add_row(what + std::to_string(of) + "-" + std::to_string(i), kNoon + of * 1min + i * 1s);
    }
    rows += count;
    flush();
  };
  for (int i = 0; i < 20; ++i) {
    batch(i, 15, "intime");
    if (i > 0) batch(i - 1, 5, "late");
    sum += counted(minute(i));
  }
  EXPECT_LT(sum, rows);  // Some are still to be swept up.
  for (int i = 20; i < 27; ++i) sum += counted(minute(i));
  EXPECT_EQ(sum, rows);
  EXPECT_LE(source_->rows_read(), static_cast<std::uint64_t>(4 * rows));
}

TEST_F(SpendSource, SaysThatRowsWereLate) {
  EXPECT_EQ(counted(minute(0)), 0);
  EXPECT_FALSE(has_problem("late_rows"));
  insert("late", kNoon + 30s);
  std::int64_t sum = 0;
  bool said = false;
  for (int i = 1; i < 8; ++i) {
    sum += counted(minute(i));
    said |= has_problem("late_rows");
  }
  EXPECT_EQ(sum, 1);
  EXPECT_TRUE(said);
}

TEST_F(SpendSource, FindsRequestsThatTookLongerThanTheWindowByASweep) {
  std::int64_t sum = counted(minute(0));
  insert("long", kNoon + 90s, 100min);
  for (int i = 1; i < 8; ++i) sum += counted(minute(i));
  EXPECT_EQ(sum, 1);
}

TEST_F(SpendSource, DoesNotCountTheSameRowTwiceAfterARestart) {
  insert("a", kNoon + 5s);
  EXPECT_EQ(counted(minute(0)), 1);
  Writer writer;
  source_->save(writer);
  make_source({preset("requests", {"model"}, {"error_class"})});
  Reader reader(writer.bytes());
  ASSERT_TRUE(source_->load(reader));
  insert("late", kNoon + 6s);
  std::int64_t sum = 0;
  for (int i = 1; i < 8; ++i) sum += counted(minute(i));
  EXPECT_EQ(sum, 1);
  Reader broken("\x01");
  EXPECT_FALSE(source_->load(broken));
}

TEST_F(SpendSource, BeginsWithoutWhatEndedBefore) {
  insert("before", kNoon - 10s);
  insert("after", kNoon + 10s);
  std::int64_t sum = 0;
  for (int i = 0; i < 8; ++i) sum += counted(minute(i));
  EXPECT_EQ(sum, 1);
}

TEST_F(SpendSource, ReadsALongRangeInPieces) {
  sql("insert into \"LiteLLM_SpendLogs\" (request_id, \"startTime\", \"endTime\", model_group, "
      "status) "
      "select i::text, timestamp '2026-11-20' + i * interval '5 minutes', timestamp '2026-11-20' + "
      "i "
      "* interval '5 minutes' + interval '3 hours' * (i % 10 = 0)::int, 'judge', 'success' from "
      "generate_series(0, 2879) i");
  settings_.longest_sweep = 4h;
  make_source({preset("requests", {"model"}, {"error_class"})});
  const Timestamp begin = kNoon - 252h;  // 2026-11-20T00:00Z
  auto fetch = source_->fetch({begin, begin + 241h + 0min + 2h});
  ASSERT_TRUE(fetch) << fetch.error().message;
  EXPECT_EQ(total(fetch->batches.front()), 2880);
  EXPECT_EQ(fetch->batches.front().steps(), 243U * 60);
  EXPECT_LE(source_->rows_read(), 2'900U);
}

TEST_F(SpendSource, UsesTheIndexOnTheBegin) {
  sql("insert into \"LiteLLM_SpendLogs\" (request_id, \"startTime\", \"endTime\", model_group, "
      "status) "
      "select i::text, timestamp '2026-11-01' + i * interval '50 seconds', timestamp '2026-11-01' "
      "+ i "
      "* interval '50 seconds', 'judge', 'success' from generate_series(1, 55000) i; analyze");
  const std::string scans =
      "select seq_scan from pg_stat_user_tables where relname = 'LiteLLM_SpendLogs'";
  sql("select pg_stat_force_next_flush()");
  const std::string before = ask(scans);
  EXPECT_GE(counted(minute(-600)), 1);
  source_.reset();
  // The ended connection has told its statistics soon after.
  EXPECT_TRUE(testing::wait_until([&] {
    return ask("select idx_scan > 0 from pg_stat_user_tables where relname = "
               "'LiteLLM_SpendLogs'") == "t";
  }));
  EXPECT_EQ(ask(scans), before);
}

TEST_F(SpendSource, ReadsTablesOfOtherVersions) {
  insert("a", kNoon + 5s, 1s, "judge", "failure");
  sql("update \"LiteLLM_SpendLogs\" set metadata = metadata || '{\"status\": \"failure\"}'");
  sql("alter table \"LiteLLM_SpendLogs\" drop column status, drop column model_id");
  auto fetch = source_->fetch(minute(0));
  ASSERT_TRUE(fetch) << fetch.error().message;
  EXPECT_EQ(total(fetch->batches[0], true), 1);
  EXPECT_TRUE(std::ranges::any_of(fetch->problems, [](const Problem& p) {
    return p.what == "missing_column" && p.where.ends_with(".model_id");
  }));
}

TEST_F(SpendSource, SaysWhichColumnIsGone) {
  EXPECT_EQ(counted(minute(0)), 0);
  insert("a", kNoon + 65s);
  sql("alter table \"LiteLLM_SpendLogs\" rename column \"endTime\" to ended");
  for (int i = 0; i < 2; ++i) {
    const auto fetch = source_->fetch(minute(1));
    ASSERT_FALSE(fetch);
    EXPECT_EQ(fetch.error().kind, ErrorKind::rejected);
    EXPECT_NE(fetch.error().message.find("endTime"), std::string::npos) << fetch.error().message;
  }
  sql("alter table \"LiteLLM_SpendLogs\" rename column ended to \"endTime\"");
  EXPECT_EQ(counted(minute(1)), 1);  // Nothing was lost.
  sql("alter table \"LiteLLM_SpendLogs\" rename to gone");
  const auto gone = source_->fetch(minute(2));
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().kind, ErrorKind::rejected);
}

TEST_F(SpendSource, CountsNullsAndOddNumbersAsNothing) {
  make_source({preset("spend", {"kind"}), preset("requests", {"model"})});
  sql("alter table \"LiteLLM_SpendLogs\" alter column spend drop not null, alter column spend drop "
      "default, alter column prompt_tokens type text, alter column prompt_tokens drop not null, "
      "alter "
      "column completion_tokens type numeric");
  for (int i = 0; i < 5; ++i) insert("r" + std::to_string(i), kNoon + i * 1s);
  sql("update \"LiteLLM_SpendLogs\" set spend = case request_id when 'r0' then 'NaN' when 'r1' "
      "then "
      "null when 'r2' then 'Infinity' else 0.5 end::float8, prompt_tokens = case request_id when "
      "'r0' "
      "then '99999999999999999999' when 'r1' then null when 'r3' then '12' end, completion_tokens "
      "= "
      "7.0, model_group = null, model = ''");
  auto fetch = source_->fetch(minute(0));
  ASSERT_TRUE(fetch) << fetch.error().message;
  const auto amount = [&](const std::string& kind) {
    for (std::size_t cell = 0; cell < source_->cells(0).size(); ++cell) {
      if (source_->cells(0)[cell].get("kind") == kind) return fetch->batches[0].n[cell];
    }
    return std::int64_t{0};
  };
  EXPECT_EQ(amount("recorded_cost"), 1'000'000'000);
  EXPECT_EQ(amount("prompt_tokens"), 12);
  EXPECT_EQ(amount("completion_tokens"), 35);
  EXPECT_EQ(total(fetch->batches[1]), 5);
  EXPECT_TRUE(std::ranges::any_of(fetch->problems,
                                  [](const Problem& p) { return p.what == "bad_number"; }));
}

TEST_F(SpendSource, MendsBytesThatAreNoText) {
  sql("create database ascii encoding 'SQL_ASCII' template template0");
  const std::string utf8 = database_;
  database_ = "ascii";
  settings_.access.dbname = "ascii";
  make_table();
  sql("insert into \"LiteLLM_SpendLogs\" (request_id, \"startTime\", \"endTime\", model_group, "
      "status) "
      "values ('a', '2026-11-30 12:00:01', '2026-11-30 12:00:02', E'gpt\\xff', 'success')");
  make_source({preset("requests", {"model"})});
  EXPECT_EQ(counted(minute(0)), 1);
  ASSERT_FALSE(source_->cells(0).empty());
  EXPECT_EQ(source_->cells(0)[0].get("model"), "gpt\xef\xbf\xbd");
  source_.reset();
  database_ = utf8;
  sql("drop database ascii with (force)");
}

TEST_F(SpendSource, AsksAgainWhenItsConnectionWasEnded) {
  insert("a", kNoon + 5s);
  EXPECT_EQ(counted(minute(0)), 1);
  insert("b", kNoon + 65s);
  sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'outcomed' "
      "and "
      "datname = current_database()");
  EXPECT_EQ(counted(minute(1)), 1);  // In the same tick.
}

TEST_F(SpendSource, LosesNothingWhileTheServerIsFrozenOrAway) {
  settings_.timeout = 400ms;
  make_source({preset("requests", {"model"})});
  insert("a", kNoon + 5s);
  EXPECT_EQ(counted(minute(0)), 1);
  insert("b", kNoon + 65s);
  const pid_t backend = std::stoi(
      ask("select pid from pg_stat_activity where application_name = 'outcomed' and datname = "
          "current_database()"));
  kill(backend, SIGSTOP);
  const auto frozen = source_->fetch(minute(1));
  kill(backend, SIGCONT);
  ASSERT_FALSE(frozen);
  EXPECT_EQ(frozen.error().kind, ErrorKind::timeout);
  EXPECT_EQ(counted(minute(1)), 1);
  server().stop(SIGINT);
  const auto away = source_->fetch(minute(2));
  server().start();
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().kind, ErrorKind::unavailable);
  insert("c", kNoon + 125s);
  EXPECT_EQ(counted(minute(2)), 1);
}

TEST_F(SpendSource, SaysWhenItMayNotReadOrCouldWrite) {
  sql("revoke select on \"LiteLLM_SpendLogs\" from reader");
  const auto denied = source_->fetch(minute(0));
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().kind, ErrorKind::unauthorized);
  EXPECT_NE(denied.error().message.find("42501"), std::string::npos) << denied.error().message;
  sql("grant select, insert on \"LiteLLM_SpendLogs\" to reader");
  make_source({preset("requests", {"model"})});
  const auto writable = source_->fetch(minute(0));
  ASSERT_FALSE(writable);
  EXPECT_NE(writable.error().message.find("can write to public.LiteLLM_SpendLogs"),
            std::string::npos);
  settings_.allow_writable_role = {"reader"};
  make_source({preset("requests", {"model"})});
  EXPECT_TRUE(source_->fetch(minute(0)));
  settings_.access.user = "postgres";
  make_source({preset("requests", {"model"})});
  const auto super = source_->fetch(minute(0));
  ASSERT_FALSE(super);
  EXPECT_NE(super.error().message.find("role postgres is a superuser"), std::string::npos);
}

TEST_F(SpendSource, ReadsOnAfterAFailoverToAReadOnlyServer) {
  insert("a", kNoon + 5s);
  sql("alter database " + database_ + " set default_transaction_read_only = on");
  EXPECT_EQ(counted(minute(0)), 1);
}

class GenuineRows : public SqlTest, public ::testing::WithParamInterface<RecordedGateway> {};

TEST_P(GenuineRows, AreWhatTheClientsGot) {
  if (!GetParam().is_here()) GTEST_SKIP() << "data absent: " << GetParam().folder();
  ASSERT_NO_FATAL_FAILURE(load_gateway(GetParam()));
  auto requests = testing::read_client_requests(GetParam().folder() + "/requests.jsonl.gz");
  for (auto& request : requests) {
    if (request.model == "nosuch" && GetParam().says_asked_model) request.model = "unknown-model";
  }
  Truth expected = testing::truth_between(requests, 0, 1e12);
  if (!GetParam().says_asked_model) {
    // 41 requests for flaky that gpt-4o served are booked on gpt-4o, and no column says so.
    expected.n["flaky"] -= 41;
    expected.n["gpt-4o"] += 41;
  }
  make_source({preset("requests", {"model"}, {"error_class"}), preset("spend", {"kind"})});
  const auto at = [](double seconds) {
    return from_unix_ms(static_cast<std::int64_t>(seconds) * 1000);
  };
  const Timestamp begin = floor_to(at(requests.front().end), 1min) - 1min;
  Truth truth;
  std::int64_t cost = 0;
  for (int i = 0; i < 12; ++i) {  // As a daemon asks: minute by minute.
    auto fetch = source_->fetch({begin + i * 1min, begin + (i + 1) * 1min});
    ASSERT_TRUE(fetch) << fetch.error().message;
    for (std::size_t cell = 0; cell < source_->cells(0).size(); ++cell) {
      const Labels& labels = source_->cells(0)[cell];
      const std::string model(labels.get("model"));
      const SignalBatch& batch = fetch->batches[0];
      if (batch.n[cell] > 0) truth.n[model] += batch.n[cell];
      if (batch.k[cell] > 0)
        truth.k[{model, std::string(labels.get("error_class"))}] += batch.k[cell];
    }
    for (std::size_t cell = 0; cell < source_->cells(1).size(); ++cell) {
      if (source_->cells(1)[cell].get("kind") == "recorded_cost") cost += fetch->batches[1].n[cell];
    }
  }
  EXPECT_EQ(truth, expected);
  const double booked = std::stod(ask("select sum(spend) from \"LiteLLM_SpendLogs\""));
  EXPECT_NEAR(static_cast<double>(cost), booked * 1e9, 2'000);
}

INSTANTIATE_TEST_SUITE_P(Gateways, GenuineRows, testing::recorded_gateways(),
                         testing::gateway_name);

}  // namespace
}  // namespace outcomed
