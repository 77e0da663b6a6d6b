#include "queries/postgres/sql_text.h"

#include <gtest/gtest.h>

namespace outcomed {
namespace {

std::string text_of(const std::string& sql) {
  const auto parsed = parse_sql_text(sql);
  return parsed ? parsed->text : "ERROR " + parsed.error().message;
}

TEST(SqlText, PlaceholdersBecomeParameters) {
  EXPECT_EQ(text_of("select 1 from t where at >= :from and at < :to and x <= :to;\n"),
            "select 1 from t where at >= $1 and at < $2 and x <= $2");
}

TEST(SqlText, QuotesCommentsAndCastsAreLeftAlone) {
  EXPECT_EQ(text_of("select ':from', \":to\", E'\\':to', $$:to;$$, $a$ :x $a$, x::date, y[1:2] "
                    "-- :oops ;\n from t where :from < :to"),
            "select ':from', \":to\", E'\\':to', $$:to;$$, $a$ :x $a$, x::date, y[1:2]  \n from t "
            "where $1 < $2");
}

TEST(SqlText, NestedCommentsEnd) {
  EXPECT_EQ(text_of("select 1 /* a /* :x */ ; */ where :from < :to"), "select 1   where $1 < $2");
}

TEST(SqlText, OneWholeQueryOnly) {
  for (const char* sql :
       {"select :from, :to; drop table x", "delete from x where :from < :to", "",
        "select 1 where a > :from", "select 1 where a < :to", "select :from, :to, :model",
        "select :from, :to, $1", "select :from, ':to", "select :from, :to /* ",
        "select :from :to $$", "copy (select :from, :to) to stdout", "set x = :from; select :to"}) {
    EXPECT_FALSE(parse_sql_text(sql)) << sql;
  }
  EXPECT_FALSE(parse_sql_text(std::string("select :from, :to \0", 20)));
}

TEST(SqlText, AWholeQueryHasNoParameters) {
  const auto whole = [](const std::string& sql) {
    const auto parsed = parse_whole_query(sql);
    return parsed ? parsed->text : "ERROR " + parsed.error().message;
  };
  EXPECT_EQ(whole("select a::text, b[1:2] -- ;\nfrom t where x = ':from';\n"),
            "select a::text, b[1:2]  \nfrom t where x = ':from'");
  EXPECT_EQ(whole("select 1 where at > :from"), "ERROR has a parameter (:from): write its value");
  EXPECT_EQ(whole("select $1"), "ERROR has a parameter ($1): write its value");
  EXPECT_EQ(whole("select 1; select 2"), "ERROR more than one statement: write one query");
}

TEST(SqlText, NamesOfTablesAreQuotedPartByPart) {
  const auto quoted = [](std::string_view name) {
    const auto text = quote_table_name(name);
    return text ? *text : "ERROR " + text.error().message;
  };
  EXPECT_EQ(quoted("scores"), "\"scores\"");
  EXPECT_EQ(quoted("public.LiteLLM_SpendLogs"), "\"public\".\"LiteLLM_SpendLogs\"");
  EXPECT_EQ(quoted("\"a.b\".\"say \"\"x\"\"\""), "\"a.b\".\"say \"\"x\"\"\"");
  EXPECT_EQ(quoted("x; drop table y"), "\"x; drop table y\"");
  for (const char* wrong : {"", ".", "a.", ".a", "a..b", "a.b.c", "\"a", "\"a\"b", "a\"b", "\"\"",
                            "\"a\".", "\"a\"\""}) {
    EXPECT_FALSE(quote_table_name(wrong)) << wrong;
  }
  EXPECT_FALSE(quote_table_name(std::string_view("a\0b", 3)));
}

TEST(SqlText, ManyCharactersCostNoStack) {
  std::string deep = "select :from, :to ";
  for (int i = 0; i < 100'000; ++i) deep += "/*";
  EXPECT_FALSE(parse_sql_text(deep));
}

std::string labels_of(const std::string& sql) {
  const auto labels = sql_label_columns(sql);
  if (!labels) return "ERROR " + labels.error().message;
  std::string text;
  for (const std::string& label : *labels) text += (text.empty() ? "" : " ") + label;
  return text;
}

TEST(SqlLabels, AreTheOtherColumns) {
  EXPECT_EQ(labels_of("select date_trunc('day', scored_at) as at, count(*) as n, count(*) filter "
                      "(where score >= 7) as k, feed from scores where scored_at >= :from and "
                      "scored_at < :to group by 1, feed"),
            "feed");
  EXPECT_EQ(labels_of("with a as (select 1 from b) select s.at, s.n N, sum(k)::bigint as K, "
                      "s.\"Feed\", (select x from y) as why, model::text, case when a is distinct "
                      "from b then 1 end as c from s where :from < :to"),
            "Feed why model c");
  EXPECT_EQ(labels_of("select at, n, k from t where at >= :from and at < :to"), "");
}

TEST(SqlLabels, ThatCanNotBeToldAreAskedFor) {
  for (const char* sql : {"select * from t where :from < :to",
                          "select at, n, k, a || b from t where "
                          ":from < :to",
                          "select at, n from t where :from < :to",
                          "select at, n, k, 'x' from t where :from < :to", "table t"}) {
    EXPECT_FALSE(sql_label_columns(sql)) << sql;
  }
}

TEST(SqlText, IdentifiersAreQuoted) {
  EXPECT_EQ(quote_identifier("LiteLLM_SpendLogs"), "\"LiteLLM_SpendLogs\"");
  EXPECT_EQ(quote_identifier("a\"b"), "\"a\"\"b\"");
}

}  // namespace
}  // namespace outcomed
