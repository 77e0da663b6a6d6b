#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <type_traits>

#include "queries/base/codec.h"
#include "queries/base/http_client.h"
#include "queries/base/labels.h"
#include "queries/base/matcher.h"
#include "queries/base/time.h"

namespace outcomed {
namespace {

TEST(Durations, FollowPrometheusGrammar) {  // H4
  const std::vector<std::pair<std::string, Duration>> good = {
      {"0", 0ms},        {"0s", 0ms},
      {"30s", 30s},      {"15m", 15min},
      {"1h30m", 90min},  {"1d12h", 36h},
      {"14d", 24h * 14}, {"1w", 24h * 7},
      {"1y", 24h * 365}, {"500ms", 500ms},
      {"1m30s", 90s},    {"1y2w3d4h5m6s7ms", 24h * (365 + 14 + 3) + 4h + 5min + 6s + 7ms},
  };
  for (const auto& [text, expected] : good) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
    EXPECT_EQ(*parsed, expected) << text;
  }
  for (const std::string text : {"", "12h1d", "1.5h", "1h 30m", "-5m", "5M", "m", "5", "1h1h",
                                 "1s1m", "99999999999y", "10 s", "\t5m", "5min"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Durations, ProposeTheUnitForABareNumber) {
  EXPECT_EQ(parse_duration("90").error().message, "\"90\" is not a duration; did you mean 90s?");
}

TEST(Durations, ComeBackFromTheirText) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) {
    const Duration d(static_cast<std::int64_t>(random() % (1ULL << (1 + i % 50))));
    const auto back = parse_duration(format_duration(d));
    ASSERT_TRUE(back) << format_duration(d);
    EXPECT_EQ(*back, d);
  }
  EXPECT_EQ(format_duration(90s), "1m30s");
  EXPECT_EQ(format_duration(24h * 14), "14d");
  EXPECT_EQ(format_duration(-5min), "-5m");
  EXPECT_FALSE(format_duration(Duration::min()).empty());
}

TEST(Timestamps, ReadRfc3339WithAnyOffsetAndUnixSeconds) {
  const Timestamp noon = from_unix_ms(1'796'040'000'000);
  for (const std::string text :
       {"2026-11-30T12:00:00Z", "2026-11-30T15:00:00+03:00", "2026-11-30t07:30:00-04:30",
        "2026-11-30 12:00:00Z", "1796040000", "2026-11-30T12:00Z"}) {
    const auto at = parse_timestamp(text);
    ASSERT_TRUE(at) << text;
    EXPECT_EQ(*at, noon) << text;
  }
  EXPECT_EQ(*parse_timestamp("1796040000.754"), noon + 754ms);
  EXPECT_EQ(*parse_timestamp("2026-11-30T12:00:00.754Z"), noon + 754ms);
  EXPECT_EQ(*parse_timestamp("2026-11-30"), noon - 12h);
  for (const std::string text :
       {"", "yesterday", "2026-13-01", "2026-02-30T00:00:00Z", "2026-11-30T25:00:00Z", "-5", "1e99",
        "nan", "2026-11-30T12:00:00Q"}) {
    EXPECT_FALSE(parse_timestamp(text)) << text;
  }
}

TEST(Timestamps, ComeBackFromTheirText) {
  for (const std::int64_t ms : {0LL, 1'796'005'900'754LL, 951'782'400'000LL, 4'102'444'799'999LL}) {
    EXPECT_EQ(*parse_timestamp(format_rfc3339(from_unix_ms(ms))), from_unix_ms(ms));
  }
  EXPECT_EQ(format_rfc3339(from_unix_ms(1'796'040'000'000)), "2026-11-30T12:00:00Z");
}

TEST(Timestamps, FloorTowardsThePast) {
  EXPECT_EQ(floor_to(from_unix_ms(119'999), 1min), from_unix_ms(60'000));
  EXPECT_EQ(floor_to(from_unix_ms(120'000), 1min), from_unix_ms(120'000));
  EXPECT_EQ(floor_to(from_unix_ms(-1), 1min), from_unix_ms(-60'000));
}

TEST(LabelSets, DropEmptyValuesAndKeepTheirOrder) {
  Labels labels{{"b", "2"}, {"a", "1"}, {"c", ""}};
  EXPECT_EQ(labels, (Labels{{"a", "1"}, {"b", "2"}}));
  labels.set("a", "");
  EXPECT_EQ(labels.get("a"), "");
  EXPECT_EQ(labels.pairs().size(), 1U);
  EXPECT_EQ((Labels{{"m", "say \"hi\"\n\\"}}).to_string(), R"({m="say \"hi\"\n\\"})");
}

TEST(LabelSets, AreToldApartWhateverTheyHold) {  // T24
  EXPECT_NE((Labels{{"a", "b,c=d"}}).fingerprint(), (Labels{{"a", "b"}, {"c", "d"}}).fingerprint());
  EXPECT_NE((Labels{{"ab", "c"}}).fingerprint(), (Labels{{"a", "bc"}}).fingerprint());
  EXPECT_EQ((Labels{{"a", "b"}, {"c", "d"}}).fingerprint(),
            (Labels{{"c", "d"}, {"a", "b"}}).fingerprint());
}

TEST(Matchers, SpeakAlertmanagersSyntax) {  // H7
  const Labels judge{{"model", "judge"}, {"team", "qa"}};
  const std::vector<std::pair<std::string, bool>> cases = {
      {"model=\"judge\"", true},         {"model=judge", true},       {"model = \"judge\" ", true},
      {"model!=\"judge\"", false},       {"model=~\"j.*\"", true},    {"model=~\"j\"", false},
      {"model=~\"gpt-.*|judge\"", true}, {"model!~\"gpt-.*\"", true}, {"absent=\"\"", true},
      {"absent!=\"x\"", true},           {"absent=~\".+\"", false},   {"team=~\"(?i)QA\"", true},
  };
  for (const auto& [text, expected] : cases) {
    const auto matcher = Matcher::parse(text);
    ASSERT_TRUE(matcher) << text << ": " << matcher.error().message;
    EXPECT_EQ(matcher->matches(judge), expected) << text;
    const auto again = Matcher::parse(matcher->to_string());
    ASSERT_TRUE(again) << matcher->to_string();
    EXPECT_EQ(*again, *matcher);
  }
  for (const std::string text : {"", "=x", "model", "model==x y\"", "model=\"a\" b", "model=~\"(\"",
                                 "model=\"open", "1model=x", "model=~\"a\\\""}) {
    EXPECT_FALSE(Matcher::parse(text)) << text;
  }
}

TEST(Matchers, AreNotSlowedDownByHostilePatterns) {  // T21
  const auto matcher = Matcher::parse("m=~\"(a+)+b\"");
  ASSERT_TRUE(matcher);
  EXPECT_FALSE(matcher->matches(std::string(200'000, 'a')));
  EXPECT_FALSE(Matcher::parse("m=~\"((a{100}){100}){100}\""));
  EXPECT_FALSE(Matcher::parse("m=~\"" + std::string(2000, 'a') + "\""));
}

TEST(Selectors, AreReadAndWrittenAsPromql) {
  const auto selector = Selector::parse(R"( http_requests_total{code=~"5..", job='x' , } )");
  ASSERT_TRUE(selector) << selector.error().message;
  EXPECT_EQ(selector->metric, "http_requests_total");
  ASSERT_EQ(selector->matchers.size(), 2U);
  EXPECT_EQ(selector->to_string(), R"(http_requests_total{code=~"5..",job="x"})");
  EXPECT_EQ(Selector::parse("up")->to_string(), "up");
  EXPECT_EQ(Selector::parse("up{}")->to_string(), "up");
  EXPECT_EQ(*Selector::parse(selector->to_string()), *selector);
  for (const std::string text :
       {"", "rate(x[5m])", "x[5m]", "x offset 5m", "x{a}", "x{a=b}", "x{a=\"b\"", "sum(x)",
        "x{a=\"b\"} > 1", "{a=\"b\"}", "x{a=\"b\" c=\"d\"}"}) {
    EXPECT_FALSE(Selector::parse(text)) << text;
  }
}

TEST(SavedBytes, ComeBackBitForBitAndNeverRunOver) {
  Writer writer;
  writer.u64(0);
  writer.u64(std::numeric_limits<std::uint64_t>::max());
  writer.i64(std::numeric_limits<std::int64_t>::min());
  writer.i64(-1);
  writer.f64(0.1);
  writer.f64(-0.0);
  writer.text("a\0b");
  writer.labels({{"model", "judge"}});
  Reader reader(writer.bytes());
  EXPECT_EQ(reader.u64(), 0U);
  EXPECT_EQ(reader.u64(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(reader.i64(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(reader.i64(), -1);
  EXPECT_EQ(reader.f64(), 0.1);
  EXPECT_TRUE(std::signbit(reader.f64()));
  EXPECT_EQ(reader.text(), "a\0b");
  EXPECT_EQ(reader.labels(), (Labels{{"model", "judge"}}));
  EXPECT_TRUE(reader.at_end());
  for (std::size_t cut = 0; cut < writer.bytes().size(); ++cut) {
    Reader truncated(std::string_view(writer.bytes()).substr(0, cut));
    for (int i = 0; i < 4; ++i) truncated.u64();
    truncated.f64();
    truncated.f64();
    (void)truncated.text();
    (void)truncated.labels();
    EXPECT_FALSE(truncated.at_end()) << cut;
  }
}

TEST(Urls, AreShownWithoutPathQueryOrPassword) {  // D11
  EXPECT_EQ(redact_url("https://hooks.example.org/services/T0/SECRET"),
            "https://hooks.example.org/…");
  EXPECT_EQ(redact_url("http://127.0.0.1:9090"), "http://127.0.0.1:9090");
  EXPECT_EQ(redact_url("http://user:pa/ss@host/x"), "http://host/…");
  EXPECT_EQ(redact_url("http://host?token=SECRET"), "http://host/…");
  EXPECT_EQ(redact_url("nonsense"), "(no URL)");
  EXPECT_EQ(url_encode("a b&c/ü"), "a%20b%26c%2F%C3%BC");
}

TEST(SecretReferences, NeverRepeatWhatMayBeTheSecretItself) {  // T1, T2
  EXPECT_EQ(SecretRef::parse("file:/etc/x")->to_string(), "file:/etc/x");
  EXPECT_EQ(SecretRef::parse("env:TOKEN")->kind, SecretRef::Kind::env);
  EXPECT_EQ(SecretRef::parse("cred:hook")->kind, SecretRef::Kind::cred);
  for (const std::string text : {"hunter2", "file:", "", "FILE:/x", "sk-1234"}) {
    const auto ref = SecretRef::parse(text);
    ASSERT_FALSE(ref) << text;
    if (text.size() > 5) {
      EXPECT_EQ(ref.error().message.find(text), std::string::npos);
    }
  }
}

TEST(Codec, AReaderTakesNoTemporaryStringWhichWouldBeGone) {
  static_assert(!std::is_constructible_v<Reader, std::string>);
  static_assert(std::is_constructible_v<Reader, const std::string&>);
  static_assert(std::is_constructible_v<Reader, std::string&>);
  static_assert(std::is_constructible_v<Reader, const char*>);
}

}  // namespace
}  // namespace outcomed
