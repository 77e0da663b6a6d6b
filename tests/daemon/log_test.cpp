// Lines that can't be forged, and conditions that are said once.
#include "daemon/log.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace outcomed {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using Say = RepeatLimiter::Say;

TEST(LogfmtTest, PlainValuesStandBareAndOthersInQuotes) {
  EXPECT_EQ(logfmt("tick finished", {{"rule", "model_failures"}, {"n", 77}, {"share", 0.5}}),
            R"(event="tick finished" rule=model_failures n=77 share=0.5)");
  EXPECT_EQ(logfmt("x", {{"empty", ""}, {"text", "a b"}, {"pair", "a=b"}, {"flag", true}}),
            R"(event=x empty="" text="a b" pair="a=b" flag=true)");
  EXPECT_EQ(logfmt("x", {{"q", R"(say "hi" \ now)"}}), R"(event=x q="say \"hi\" \\ now")");
  EXPECT_EQ(logfmt("x", {{"utf8", "модель"}}), "event=x utf8=модель");
}

TEST(LogfmtTest, WhatWouldChangeTheLineOrTheTerminalIsEscaped) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a\nlevel=error event=forged", R"("a\nlevel=error event=forged")"},
      {"\x1b[2J", R"("\x1b[2J")"},
      {"\r\t", R"("\x0d\x09")"},
      {std::string("\0", 1), R"("\x00")"},
      {"\x7f", R"("\x7f")"},
      {"\xc2\x85", R"("\xc2\x85")"},          // C1: next line.
      {"\xe2\x80\xa8", R"("\xe2\x80\xa8")"},  // Line separator.
      {"\xe2\x80\xae", R"("\xe2\x80\xae")"},  // Right-to-left override.
      {"\xe2\x81\xa6", R"("\xe2\x81\xa6")"},  // Isolate.
      {"\xff", R"("\xff")"},
      {"\xed\xa0\x80", R"("\xed\xa0\x80")"},  // Half of a surrogate pair.
      {"\xc3", R"("\xc3")"},
  };
  for (const auto& [value, shown] : cases) {
    EXPECT_EQ(logfmt("x", {{"v", value}}), "event=x v=" + shown);
  }
}

TEST(LogfmtTest, LongValuesAreCut) {
  const std::string line = logfmt("x", {{"v", std::string(100'000, 'a')}, {"after", "b"}});
  EXPECT_LT(line.size(), 2100U);
  EXPECT_THAT(line, HasSubstr("…"));
  EXPECT_TRUE(line.ends_with(" after=b"));
}

TEST(LogfmtTest, AnyBytesMakeOnePrintableLine) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::string value(random() % 60, '\0');
    for (char& c : value) c = static_cast<char>(random());
    const std::string line = logfmt(value, {{"v", value}});
    EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) {
      return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
    }));
  }
}

TEST(StderrLoggerTest, WritesOneLineForEachEventFromItsLevelOn) {
  int warnings = 0;
  ::testing::internal::CaptureStderr();
  {
    const auto log = make_stderr_logger(LogLevel::info, [&] { ++warnings; });
    log->debug("hidden");
    log->info("a line", {{"pattern", "%v {} %s"}});
    log->warn("careful");
    log->error("broken");
  }
  const std::string text = ::testing::internal::GetCapturedStderr();
  const std::string time = "ts=20[0-9-]+T[0-9:]+\\.[0-9][0-9][0-9]Z ";
  EXPECT_THAT(text,
              MatchesRegex(time + "level=info event=\"a line\" pattern=\"%v \\{\\} %s\"\n" + time +
                           "level=warn event=careful\n" + time + "level=error event=broken\n"));
  EXPECT_EQ(warnings, 2);
}

TEST(StderrLoggerTest, LevelsAreReadByName) {
  EXPECT_EQ(*parse_log_level("debug"), LogLevel::debug);
  EXPECT_EQ(*parse_log_level("error"), LogLevel::error);
  const auto unknown = parse_log_level("loud");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "\"loud\" is none of debug, info, warn, error");
}

constexpr Timestamp at(int seconds) { return from_unix_ms(1'796'000'000'000 + 1000LL * seconds); }

TEST(RepeatLimiterTest, ALastingConditionIsSaidAtItsStartChangeAndEnd) {
  RepeatLimiter limiter;
  EXPECT_EQ(limiter.seen("source prom", "", at(0)).say, Say::nothing);
  EXPECT_EQ(limiter.seen("source prom", "timed out", at(1)).say, Say::started);
  EXPECT_EQ(limiter.seen("source prom", "timed out", at(2)).say, Say::nothing);
  EXPECT_EQ(limiter.seen("source other", "timed out", at(2)).say, Say::started);
  EXPECT_EQ(limiter.seen("source prom", "refused", at(3)).say, Say::changed);
  const auto ended = limiter.seen("source prom", "", at(4));
  EXPECT_EQ(ended.say, Say::ended);
  EXPECT_EQ(ended.seen, 3U);
  EXPECT_EQ(ended.since, at(1));
  EXPECT_EQ(limiter.seen("source prom", "", at(5)).say, Say::nothing);
  EXPECT_EQ(limiter.seen("source prom", "refused", at(6)).say, Say::started);
}

TEST(RepeatLimiterTest, EveryTenMinutesItSaysHowOften) {
  RepeatLimiter limiter;
  int said = 0;
  RepeatLimiter::Answer last;
  for (int second = 0; second <= 3600; second += 60) {
    const auto answer = limiter.seen("k", "down", at(second));
    if (answer.say == Say::nothing) continue;
    ++said;
    last = answer;
  }
  EXPECT_EQ(said, 7);  // The start, then at 10, 20, … 60 minutes.
  EXPECT_EQ(last.say, Say::still);
  EXPECT_EQ(last.seen, 61U);
  EXPECT_EQ(last.since, at(0));
}

TEST(RepeatLimiterTest, ItsMemoryIsBoundedAndKeepsWhatGoesOn) {
  RepeatLimiter limiter;
  EXPECT_EQ(limiter.seen("lasting", "down", at(0)).say, Say::started);
  for (int i = 1; i <= 5000; ++i) {
    limiter.seen("series " + std::to_string(i), "late", at(i));
    if (i % 100 == 0) {
      EXPECT_NE(limiter.seen("lasting", "down", at(i)).say, Say::started) << i;
    }
  }
  EXPECT_EQ(limiter.seen("series 4999", "", at(5001)).say, Say::ended);
  EXPECT_EQ(limiter.seen("series 1", "", at(5001)).say, Say::nothing) << "kept for ever";
}

}  // namespace
}  // namespace outcomed
