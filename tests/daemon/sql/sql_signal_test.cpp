// Signals asked in the user's SQL, on a real server.
#include "daemon/calendar/time_zones.h"
#include "tests/daemon/sql/sql_fixture.h"

namespace outcomed {
namespace {

using testing::SqlTest;

constexpr Timestamp kNoon = from_unix_ms(1'796'040'000'000);  // 2026-11-30T12:00:00Z
constexpr Duration kDay = std::chrono::hours(24);

class SqlSignals : public SqlTest {
 protected:
  static SignalPlan plan(const std::string& text, std::vector<std::string> labels = {"feed"},
                         Duration step = 1min) {
    SignalPlan plan;
    plan.name = "judge_pass";
    plan.step = step;
    plan.labels = std::move(labels);
    plan.sql = text;
    return plan;
  }
  static SignalPlan in_zone(SignalPlan plan, const std::string& zone, Duration anchor) {
    plan.time_zone = zone;
    plan.zone = system_time_zones()->find(zone);
    plan.anchor = anchor;
    return plan;
  }
  // n and k of a label set by step.
  static std::vector<std::pair<std::int64_t, std::int64_t>> steps(const PostgresSource& source,
                                                                  const Fetch& fetch,
                                                                  const Labels& labels) {
    std::vector<std::pair<std::int64_t, std::int64_t>> found;
    const SignalBatch& batch = fetch.batches.front();
    for (std::size_t cell = 0; cell < source.cells(0).size(); ++cell) {
      if (source.cells(0)[cell] != labels) continue;
      for (std::size_t step = 0; step < batch.steps(); ++step) {
        found.emplace_back(batch.n[cell * batch.steps() + step],
                           batch.k[cell * batch.steps() + step]);
      }
    }
    return found;
  }
  using Steps = std::vector<std::pair<std::int64_t, std::int64_t>>;

  void make_scores(const std::string& type) {
    sql("create table scores (feed text, score numeric, scored_at " + type + ")");
    grant();
  }
};

// The example of the reference.
constexpr const char* kDaily =
    "select date_trunc('day', scored_at) as at, count(*) as n, count(*) filter (where score >= 7) "
    "as "
    "k, feed from scores where scored_at >= :from and scored_at < :to group by 1, feed";

TEST_F(SqlSignals, HaveDaysOfTheirZone) {
  for (const std::string type : {"timestamptz", "timestamp"}) {
    make_scores(type);
    // Local times of Moscow, the first two in one day that begins at 21:00 UTC.
    const std::string zone = type == "timestamptz" ? "+03" : "";
    sql("insert into scores values ('news', 8, '2026-11-29 00:30" + zone +
        "'), ('news', 3, '2026-11-29 23:30" + zone + "'), ('news', 9, '2026-11-30 00:10" + zone +
        "'), ('blog', 9, '2026-11-28 23:59" + zone + "')");
    make_source({in_zone(plan(kDaily, {"feed"}, kDay), "Europe/Moscow", 21h)});
    const Timestamp begin = kNoon - 39h;  // 2026-11-28T21:00Z
    auto fetch = source_->fetch({begin, begin + 2 * kDay});
    ASSERT_TRUE(fetch) << fetch.error().message;
    EXPECT_TRUE(fetch->problems.empty());
    EXPECT_EQ(steps(*source_, *fetch, {{"feed", "news"}}), (Steps{{2, 1}, {1, 1}})) << type;
    EXPECT_TRUE(steps(*source_, *fetch, {{"feed", "blog"}}).empty()) << type;
    source_.reset();
    sql("drop table scores");
  }
}

TEST_F(SqlSignals, HaveWholeDaysWhenClocksChange) {
  make_scores("timestamptz");
  // An hour by hour score over the 25-hour day of Berlin (2026-10-25) and its neighbours.
  sql("insert into scores select 'news', 8, timestamptz '2026-10-24 00:00+02' + i * interval '1 "
      "hour' "
      "from generate_series(0, 72) i");
  // Winter's midnight, 23:00 UTC, is the grid.
  make_source({in_zone(plan(kDaily, {"feed"}, kDay), "Europe/Berlin", 23h)});
  const Timestamp begin = from_unix_ms(1'792'796'400'000);  // 2026-10-23T23:00Z
  Steps all;
  for (int day = 0; day < 3; ++day) {
    auto fetch = source_->fetch({begin + day * kDay, begin + (day + 1) * kDay});
    ASSERT_TRUE(fetch) << fetch.error().message;
    EXPECT_TRUE(fetch->problems.empty());
    const Steps one = steps(*source_, *fetch, {{"feed", "news"}});
    all.insert(all.end(), one.begin(), one.end());
  }
  EXPECT_EQ(all, (Steps{{24, 24}, {25, 25}, {24, 24}}));
}

TEST_F(SqlSignals, TakeTimesAndNumbersOfAnyType) {
  for (const std::string at :
       {"timestamp '2026-11-30 12:00:30'", "timestamptz '2026-11-30 15:00:30+03'",
        "'2026-11-30 12:00:30'::text", "1796040030::bigint", "1796040030.5::numeric",
        "1796040030.5::float8", "'1796040030'::text"}) {
    for (const std::string n : {"5", "5::numeric(10,3)", "'5'::text", "5::float8", "'5.0'::text"}) {
      make_source({plan("select " + at + " as at, " + n + " as n, 2 as k where :from < :to", {})});
      auto fetch = source_->fetch({kNoon, kNoon + 1min});
      ASSERT_TRUE(fetch) << fetch.error().message;
      EXPECT_EQ(steps(*source_, *fetch, {}), (Steps{{5, 2}})) << at << " " << n;
    }
  }
}

TEST_F(SqlSignals, AddUpDuplicatesAndReadNullsAsNothing) {
  make_source(
      {plan("select at, n, k, feed from (values (timestamp '2026-11-30 12:00:01', 5, 1, 'a'), "
            "('2026-11-30 12:00:59.999', 6, null, 'a'), ('2026-11-30 12:00:30', 7, 3, null), "
            "('2026-11-30 12:00:31', null, 0, 'a'), ('2026-11-30 12:00:31', 1, 1, '')) v(at, "
            "n, k, feed) where at >= :from and at < :to")});
  auto fetch = source_->fetch({kNoon, kNoon + 1min});
  ASSERT_TRUE(fetch) << fetch.error().message;
  EXPECT_EQ(steps(*source_, *fetch, {{"feed", "a"}}), (Steps{{11, 1}}));
  EXPECT_EQ(steps(*source_, *fetch, {}), (Steps{{8, 4}}));
  EXPECT_TRUE(fetch->problems.empty());
}

TEST_F(SqlSignals, DoNotTrustStepsWithNumbersThatAreNone) {
  for (const std::string n :
       {"'NaN'::float8", "-1", "0.5", "99999999999999999999::numeric", "'x'"}) {
    make_source({plan(
        "select timestamp '2026-11-30 12:01:01' as at, " + n + " as n, 0 as k where :from < :to",
        {})});
    auto fetch = source_->fetch({kNoon, kNoon + 3min});
    ASSERT_TRUE(fetch) << fetch.error().message;
    EXPECT_EQ(fetch->batches[0].coverage,
              (std::vector{Coverage::complete, Coverage::failed, Coverage::complete}))
        << n;
    ASSERT_EQ(fetch->problems.size(), 1U);
    EXPECT_EQ(fetch->problems[0].what, "bad_row");
  }
  make_source(
      {plan("select timestamp '2026-11-30 12:01:01' as at, 1 as n, 2 as k where :from < :to", {})});
  auto more = source_->fetch({kNoon, kNoon + 3min});
  ASSERT_TRUE(more);
  EXPECT_EQ(more->batches[0].coverage[1], Coverage::failed);
  make_source({plan("select timestamp 'infinity' as at, 1 as n, 2 as k where :from < :to", {})});
  auto never = source_->fetch({kNoon, kNoon + 2min});
  ASSERT_TRUE(never);
  EXPECT_EQ(never->batches[0].coverage, std::vector(2, Coverage::failed));
}

TEST_F(SqlSignals, AddUpWithoutOverflowing) {
  make_source(
      {plan("select timestamp '2026-11-30 12:00:01' as at, 9223372036854775807 as n, 0 as k "
            "from generate_series(1, 2) where :from < :to",
            {})});
  auto fetch = source_->fetch({kNoon, kNoon + 1min});
  ASSERT_TRUE(fetch);
  EXPECT_EQ(fetch->batches[0].coverage[0], Coverage::failed);
}

TEST_F(SqlSignals, LeaveOutRowsThatNobodyAskedFor) {
  make_source(
      {plan("select at, 1 as n, 0 as k from (values (timestamp '2026-11-30 11:59:59'), "
            "('2026-11-30 12:00:00'), ('2026-11-30 12:01:00')) v(at) where :from < :to",
            {})});
  auto fetch = source_->fetch({kNoon, kNoon + 1min});
  ASSERT_TRUE(fetch);
  EXPECT_EQ(steps(*source_, *fetch, {}), (Steps{{1, 0}}));
  ASSERT_EQ(fetch->problems.size(), 1U);
  EXPECT_EQ(fetch->problems[0].what, "rows_outside");
  EXPECT_NE(fetch->problems[0].message.find("2026-11-30T11:59:59Z"), std::string::npos);
}

TEST_F(SqlSignals, SayWhichColumnIsMissing) {
  for (const auto& [query, word] :
       {std::pair<std::string, std::string>{"select now() as at, 1 as n where :from < :to",
                                            "column k"},
        {"select now() as at, 1 as n, 1 as n, 1 as k, 'a' as feed where :from < :to",
         "than one column n"},
        {"select now() as at, 1 as n, 1 as k where :from < :to", "column feed"},
        {"select gone from pg_class where :from < :to", "42703"},
        {"select 1 from gone where :from < :to", "42P01"},
        {"select now() as at, 1 as n, 1 as k, 'a' as feed where 'x'::int = 1 and :from < :to",
         "22P02"}}) {
    make_source({plan(query)});
    const auto fetch = source_->fetch({kNoon, kNoon + 1min});
    ASSERT_FALSE(fetch) << query;
    EXPECT_EQ(fetch.error().kind, ErrorKind::rejected) << fetch.error().message;
    EXPECT_NE(fetch.error().message.find(word), std::string::npos) << fetch.error().message;
    EXPECT_NE(fetch.error().message.find("judge_pass"), std::string::npos);
  }
}

TEST_F(SqlSignals, CanNotWrite) {
  sql("create table t (a int); grant insert on t to reader");
  settings_.allow_writable_role = {"reader"};
  make_source(
      {plan("with w as (insert into t values (1) returning a) select now() as at, 1 as n, 1 "
            "as k, 'a' as feed from w where :from < :to")});
  const auto fetch = source_->fetch({kNoon, kNoon + 1min});
  ASSERT_FALSE(fetch);
  EXPECT_NE(fetch.error().message.find("25006"), std::string::npos);
  EXPECT_EQ(ask("select count(*) from t"), "0");
}

TEST_F(SqlSignals, CutLabelsThatAreTexts) {
  make_source(
      {plan("select timestamp '2026-11-30 12:00:01' as at, 1 as n, 1 as k, repeat('x', "
            "1000000) as feed where :from < :to")});
  ASSERT_TRUE(source_->fetch({kNoon, kNoon + 1min}));
  EXPECT_EQ(source_->cells(0)[0].get("feed").size(), 1024U);
}

TEST_F(SqlSignals, AskAboutShorterTimesWhenAnAnswerIsTooSlow) {
  settings_.timeout = 1s;
  make_source(
      {plan("select :from as at, 1 as n, 0 as k, pg_sleep(extract(epoch from "
            "(:to::timestamptz - :from::timestamptz)) / 3600 * 0.3) is null as feed",
            {}, 1h)});
  auto fetch = source_->fetch({kNoon, kNoon + 8h});
  ASSERT_TRUE(fetch) << fetch.error().message;
  EXPECT_EQ(fetch->batches[0].steps(), 8U);
  EXPECT_GE(total(fetch->batches[0]), 4);
}

}  // namespace
}  // namespace outcomed
