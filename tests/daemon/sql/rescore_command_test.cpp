// outcomed rescore --sql and --table, on a real server.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/daemon/sql/command_fixture.h"

namespace outcomed {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::Answer;
using ::testing::HasSubstr;

class RescoreFromSql : public testing::SqlCommandTest {
 protected:
  void SetUp() override {
    SqlTest::SetUp();
    if (!IsSkipped()) sources("ledger: " + source());
  }

  void sources(const std::string& text) {
    write_config("sources:\n  " + text + "\npresets: [{litellm: {spend: ledger}}]\n");
  }
  void make_scores(const std::string& rows, const std::string& type = "numeric") {
    sql(
        fmt::format("create table scores (feed text, item text, old {0}, new {0}); insert into "
                    "scores values {1}",
                    type, rows));
    grant();
  }

  // With the columns and the configuration that most tests have.
  Answer report(std::vector<std::string> more, const std::string& standard_input = {}) {
    more.insert(more.begin(), "rescore");
    more.insert(more.end(), {"--config", config(), "--feed", "feed", "--old", "old", "--new", "new",
                             "--threshold", "5"});
    return run(more, standard_input);
  }
  void expect(const Answer& answer, ExitStatus status, const std::string& says) {
    EXPECT_EQ(answer.status, status) << answer.err;
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(answer.err, HasSubstr(says));
  }
};

TEST_F(RescoreFromSql, SaysOfTheRealJudgePairsWhatItSaysOfTheirFile) {
  const auto csv = std::filesystem::path(OUTCOMED_DATA) / "gemba_paired_668.csv";
  if (!std::filesystem::exists(csv)) GTEST_SKIP() << csv << " is not here: data absent";
  std::ifstream in(csv);
  std::string header;
  std::getline(in, header);
  std::string columns;
  for (std::istringstream names(header); std::getline(names, header, ',');) {
    const bool number = header == "turbo" || header == "gpt4";
    columns += fmt::format("{}\"{}\" {}", columns.empty() ? "" : ", ", header,
                           number ? "double precision" : "text");
  }
  sql("create schema judges; create table judges.\"Pairs\" (" + columns + ")");
  const std::string copy = server().folder() + "/pairs.csv";
  std::filesystem::copy_file(csv, copy);
  sql("copy judges.\"Pairs\" from '" + copy + "' csv header");
  sql("grant usage on schema judges to reader; grant select on judges.\"Pairs\" to reader");

  const std::vector<std::string> asked = {
      "--feed", "feed",     "--old", "turbo",           "--new", "gpt4",     "-t",
      "95",     "--format", "json",  "--new-threshold", "98",    "--config", config()};
  const auto of = [&](std::vector<std::string> input) {
    input.insert(input.begin(), "rescore");
    input.insert(input.end(), asked.begin(), asked.end());
    const Answer answer = run(input);
    EXPECT_EQ(answer.status, ExitStatus::ok) << answer.err;
    EXPECT_EQ(answer.err, "");
    return answer.out;
  };
  const std::string from_file = of({"--csv", csv.string()});
  EXPECT_EQ(json::parse(from_file)["pooled"]["n"], 668);
  EXPECT_EQ(of({"--table", "judges.Pairs"}), from_file);
  EXPECT_EQ(of({"--sql", "select * from judges.\"Pairs\";"}), from_file);
  EXPECT_EQ(of({"--sql", "select feed, turbo::numeric(9,3), gpt4::text from judges.\"Pairs\""}),
            from_file);
}

TEST_F(RescoreFromSql, ReadsTheQueryFromAFileOrFromStandardInput) {
  make_scores("('a', '1', 5, 6), ('a', '2', 4, 6)");
  const std::string query = "-- pairs\nselect feed, old, new from scores;\n";
  std::ofstream(folder_ / "pairs.sql") << "\xEF\xBB\xBF" << query;
  const Answer of_file = report({"--sql", "@" + (folder_ / "pairs.sql")});
  EXPECT_EQ(of_file.status, ExitStatus::ok) << of_file.err;
  EXPECT_THAT(of_file.out, HasSubstr("2 items in 1 feed"));
  EXPECT_EQ(report({"--sql", "-"}, query).out, of_file.out);
  expect(report({"--sql", "@" + (folder_ / "gone.sql")}), ExitStatus::usage,
         "gone.sql: can't open: No such file");
  expect(report({"--sql", "-"}), ExitStatus::usage, "--sql -: not a query");
  expect(report({"--sql", "-"}, std::string(2 << 20, ' ')), ExitStatus::usage, "more than 1 MiB");
}

TEST_F(RescoreFromSql, CountsWhatItCannotUseAsOfAFile) {
  make_scores(
      "('a', '1', '5', '6'), ('a', '2', null, '6'), ('a', '3', '5', 'NaN'), ('a', '4', 'n/a', "
      "'6'), ('a', '5', 'seven', '6'), ('a', '6', 'Infinity', '6'), (null, '7', ' +4 ', '4.5e0'), "
      "('a', '1', '4', '4')",
      "text");
  const Answer answer = report({"--table", "scores", "--item", "item"});
  EXPECT_EQ(answer.status, ExitStatus::ok);
  EXPECT_EQ(answer.err,
            "note: 2 of 8 rows left out: old is missing (rows 2, 4)\n"
            "note: 1 of 8 rows left out: new is missing (row 3)\n"
            "note: 1 of 8 rows left out: old is no number (row 5)\n"
            "note: 1 of 8 rows left out: old is beyond 1e12 (row 6)\n"
            "note: 1 row repeats an item that stood before in its feed, first on row 8; all of "
            "them count\n");
  EXPECT_THAT(answer.out, HasSubstr("3 items in 2 feeds"));
  const json all = json::parse(report({"--table", "scores", "--format", "json"}).out);
  EXPECT_EQ(all["skipped"][0]["rows"], json({2, 4}));
}

TEST_F(RescoreFromSql, KnowsTheMissingValuesOfEveryType) {
  for (const char* type : {"numeric", "real", "double precision"}) {
    make_scores("('a', '1', 0.1, 6), ('a', '2', 'NaN', 6), ('a', '3', null, 6)", type);
    const Answer answer = report({"--table", "scores", "--format", "json"});
    EXPECT_EQ(answer.status, ExitStatus::ok) << answer.err;
    EXPECT_NEAR(json::parse(answer.out)["pooled"]["mean_shift"][0], 5.9, 1e-12) << type;
    EXPECT_THAT(answer.err, HasSubstr("2 of 3 rows left out: old is missing (rows 2, 3)"));
    sql("drop table scores");
  }
}

TEST_F(RescoreFromSql, SaysThatColumnsHoldNoScores) {
  make_scores("('a', '1', true, false)", "boolean");
  const Answer answer = report({"--table", "scores"});
  EXPECT_EQ(answer.status, ExitStatus::usage);
  EXPECT_EQ(answer.err,
            "note: 1 of 1 rows left out: old is no number (row 1)\n"
            "outcomed: table scores: there is no item with both scores\n");
}

TEST_F(RescoreFromSql, SaysWhichColumnsThereAre) {
  make_scores("('a', '1', 5, 6)");
  expect(report({"--sql", "select feed, old as \"Old\", new from scores"}), ExitStatus::usage,
         "--old: the query has no column \"old\"; it has: feed, Old, new");
  expect(report({"--table", "scores", "--item", "id"}), ExitStatus::usage,
         "--item: table scores has no column \"id\"; it has: feed, item, old, new");
  expect(report({"--sql", "select feed, old, new, item as new from scores"}), ExitStatus::usage,
         "--new: the query has 2 columns \"new\"");
  // Also where no row comes.
  expect(report({"--sql", "select feed from scores where false"}), ExitStatus::usage,
         "--old: the query has no column \"old\"; it has: feed");
}

TEST_F(RescoreFromSql, SaysThatThereAreNoRows) {
  make_scores("('a', '1', 5, 6)");
  expect(report({"--sql", "select * from scores where false"}), ExitStatus::usage,
         "outcomed: the query has no rows");
}

TEST_F(RescoreFromSql, TakesTablesByTheirExactNames) {
  sql("create table \"x\"\"; drop table y; --.z\" (feed text, old int, new int); create table y (a "
      "int); insert into \"x\"\"; drop table y; --.z\" values ('a', 1, 2)");
  make_scores("('a', '1', 5, 6)");
  sql("create view pairs as select * from scores");
  grant();
  EXPECT_EQ(report({"--table", "\"x\"\"; drop table y; --.z\""}).status, ExitStatus::ok);
  EXPECT_EQ(report({"--table", "public.\"scores\""}).status, ExitStatus::ok);
  EXPECT_EQ(report({"--table", "pairs"}).status, ExitStatus::ok);
  EXPECT_EQ(ask("select count(*) from y"), "0");
  expect(report({"--table", "Scores"}), ExitStatus::usage,
         "--table: there is no table \"Scores\" in this database; upper and lower case count");
  expect(report({"--table", "x; drop table y"}), ExitStatus::usage, "there is no table");
  expect(report({"--table", "a.b.c"}), ExitStatus::usage, "has more parts than schema and table");
}

TEST_F(RescoreFromSql, TakesOneWholeQueryThatOnlyReads) {
  make_scores("('a', '1', 5, 6)");
  expect(report({"--sql", "select * from scores; drop table scores"}), ExitStatus::usage,
         "--sql: more than one statement");
  expect(report({"--sql", "delete from scores returning *"}), ExitStatus::usage, "not a query");
  expect(report({"--sql", "select * from scores where feed = :feed"}), ExitStatus::usage,
         "--sql: has a parameter (:feed): write its value");
  sql("grant insert on scores to reader");
  expect(report({"--table", "scores"}), ExitStatus::usage,
         "--table: source ledger: role reader can write to public.scores");
  sources("ledger: " + source(", allow_writable_role: [reader]"));
  const Answer writes = report(
      {"--sql",
       "with x as (insert into scores values ('b', '1', 1, 1) returning *) select * from x"});
  expect(writes, ExitStatus::usage, "in a read-only transaction (SQLSTATE 25006)");
  EXPECT_EQ(ask("select count(*) from scores"), "1");
}

TEST_F(RescoreFromSql, SaysWhatTheServerRefusesAndWhatToDo) {
  make_scores("('a', '1', 5, 6), ('a', '2', 5, 6)");
  expect(report({"--sql", "select * from gone"}), ExitStatus::usage,
         "--sql: source ledger: 127.0.0.1:");
  sql("revoke select on scores from reader");
  expect(report({"--table", "scores"}), ExitStatus::unavailable,
         "permission denied for table scores (SQLSTATE 42501); role reader must be let in, and "
         "have select on what is read");
  grant();
  sources("ledger: " + source(", max_rows: 1"));
  expect(report({"--table", "scores"}), ExitStatus::unavailable,
         "; ask for less, or raise its max_rows (1)");
  sources("ledger: " + source(", timeout: 300ms"));
  expect(report({"--sql", "select feed, old, new, pg_sleep(30) from scores"}),
         ExitStatus::unavailable,
         "statement timeout (SQLSTATE 57014); ask for less, or raise its timeout (300ms)");
}

TEST_F(RescoreFromSql, AsksTheSourceThatIsNamed) {
  make_scores("('a', '1', 5, 6)");
  sources("ledger: " + source() + "\n  other: " + source());
  expect(report({"--table", "scores"}), ExitStatus::usage,
         "--source is needed: which of ledger, other is to be asked");
  expect(report({"--table", "scores", "--source", "prom"}), ExitStatus::usage,
         "--source: \"prom\" is no source of kind postgres; there are: ledger, other");
  EXPECT_EQ(report({"--table", "scores", "--source", "other"}).status, ExitStatus::ok);
  write_config(
      "sources: {prom: {kind: prometheus, url: 'http://127.0.0.1:9'}}\n"
      "presets: [{litellm: {metrics: prom}}]\n");
  expect(report({"--table", "scores"}), ExitStatus::usage, "has no source of kind postgres; add");
  sources("ledger: {kind: postgres}");
  EXPECT_EQ(report({"--table", "scores"}).status, ExitStatus::config);
}

TEST_F(RescoreFromSql, PlansWhichItemsToScoreOutOfATable) {
  make_scores("('a', 'i1', 5, null), ('a', 'i2', 6, null), ('a', 'i2', 6, null)");
  const Answer plan = run({"rescore", "--table", "scores", "--item", "item", "--old", "old",
                           "--plan", "2", "--config", config()});
  EXPECT_EQ(plan.status, ExitStatus::ok) << plan.err;
  EXPECT_THAT(plan.out, AllOf(HasSubstr("all,i1,5"), HasSubstr("all,i2,6")));
  EXPECT_THAT(plan.err, HasSubstr("item stood before in its feed (row 3)"));
}

}  // namespace
}  // namespace outcomed
