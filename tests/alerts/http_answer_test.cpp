#include "alerts/http_answer.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/alerts/scripted_client.h"

namespace outcomed {
namespace {

using testing::ScriptedClient;
using Outcome = SendResult::Outcome;

const Timestamp kNow = *parse_timestamp("1994-11-06T08:49:00Z");

SendResult result_of(int status, std::string body = {},
                     std::vector<std::pair<std::string, std::string>> headers = {}) {
  return send_result_of(ScriptedClient::response(status, std::move(body), std::move(headers)),
                        kNow);
}

TEST(HttpAnswer, EveryStatusHasItsMeaning) {
  for (int status = 100; status < 600; ++status) {
    const SendResult result = result_of(status);
    const bool delivered = status / 100 == 2;
    const bool retry = status == 408 || status == 429 || status >= 500;
    EXPECT_EQ(result.outcome, delivered ? Outcome::delivered
                              : retry   ? Outcome::retry
                                        : Outcome::rejected)
        << status;
    EXPECT_EQ(result.throttled, status == 429) << status;
    EXPECT_TRUE(result.detail.starts_with("HTTP " + std::to_string(status))) << result.detail;
  }
  EXPECT_EQ(result_of(0).outcome, Outcome::rejected);
}

TEST(HttpAnswer, ARedirectSaysWhatToDo) {
  const SendResult result = result_of(307, "", {{"location", "http://169.254.169.254/secret"}});
  EXPECT_EQ(result.outcome, Outcome::rejected);
  EXPECT_EQ(result.detail, "HTTP 307: redirects are not followed; configure the final URL");
}

TEST(HttpAnswer, WithoutAWholeAnswerItIsTriedAgain) {
  for (const ErrorKind kind : {ErrorKind::unavailable, ErrorKind::timeout, ErrorKind::corrupt,
                               ErrorKind::too_large, ErrorKind::invalid}) {
    const SendResult result = send_result_of(Error{kind, "POST https://h/…: a\nb\xFF"}, kNow);
    EXPECT_EQ(result.outcome, Outcome::retry);
    EXPECT_EQ(result.detail, "POST https://h/…: a b\xEF\xBF\xBD");
    EXPECT_FALSE(result.throttled);
  }
}

TEST(HttpAnswer, ARefusalQuotesTheReceiversWordsInOneValidLine) {
  EXPECT_EQ(result_of(400, "bad\r\nlabel \xFF").detail, "HTTP 400: bad  label \xEF\xBF\xBD");
  EXPECT_LT(result_of(500, std::string(100'000, 'x')).detail.size(), 300U);
  // Cut in the middle of a letter by the 200-byte limit: still valid text.
  std::string accents;
  for (int i = 0; i < 300; ++i) accents += "é";
  EXPECT_TRUE(result_of(400, "x" + accents).detail.ends_with("é\xEF\xBF\xBD"));
}

TEST(HttpAnswer, RetryAfterIsReadForStatusesThatAreTriedAgain) {
  EXPECT_EQ(result_of(429, "", {{"retry-after", "2"}}).retry_after, Duration(2s));
  EXPECT_EQ(result_of(503, "", {{"retry-after", "120"}}).retry_after, Duration(2min));
  EXPECT_EQ(result_of(429).retry_after, std::nullopt);
  EXPECT_EQ(result_of(429, "", {{"retry-after", "soon"}}).retry_after, std::nullopt);
  EXPECT_EQ(result_of(404, "", {{"retry-after", "2"}}).retry_after, std::nullopt);
}

TEST(RetryAfter, SecondsAreReadWholeOrFractional) {
  EXPECT_EQ(parse_retry_after("0", kNow), Duration(0));
  EXPECT_EQ(parse_retry_after(" 7\t", kNow), Duration(7s));
  EXPECT_EQ(parse_retry_after("1.5", kNow), Duration(1500));
  EXPECT_EQ(parse_retry_after("0.0001", kNow), Duration(1));  // Never earlier than asked.
  EXPECT_EQ(parse_retry_after("99999999999999999999999999", kNow), Duration(24h * 365));
  EXPECT_EQ(parse_retry_after(std::string(5000, '9'), kNow), Duration(24h * 365));
}

TEST(RetryAfter, TheThreeDateFormsAreReadAndNowIsTakenOff) {
  for (const std::string_view date :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(parse_retry_after(date, kNow), Duration(37s)) << date;
    EXPECT_EQ(parse_retry_after(date, kNow + 1h), Duration(0)) << date;  // That time has passed.
  }
  EXPECT_EQ(parse_retry_after("Sun Nov 13 08:49:37 1994", kNow), Duration(7 * 24h + 37s));
  EXPECT_EQ(
      parse_retry_after("Thu, 29 Feb 2024 00:00:00 GMT", *parse_timestamp("2024-02-28T23:59:59Z")),
      Duration(1s));
  // Two digits never mean more than 50 years ahead.
  EXPECT_EQ(
      parse_retry_after("Sunday, 06-Nov-94 08:49:37 GMT", *parse_timestamp("2026-11-06T08:49:00Z")),
      Duration(0));
  EXPECT_EQ(
      parse_retry_after("Friday, 06-Nov-30 08:49:37 GMT", *parse_timestamp("2030-11-06T08:49:00Z")),
      Duration(37s));
}

TEST(RetryAfter, WhatIsNeitherIsNothing) {
  for (const std::string_view text : {"",
                                      " ",
                                      "soon",
                                      "-1",
                                      "+5",
                                      "1e3",
                                      "5s",
                                      "0x10",
                                      "1 2",
                                      "nan",
                                      "inf",
                                      "Infinity",
                                      "1.5.1",
                                      ",",
                                      "Sun, 06 Nov 1994 08:49:37",
                                      "Sun, 06 Nov 1994 08:49:37 CET",
                                      "Sun, 31 Feb 1994 08:49:37 GMT",
                                      "Sun, 06 Xxx 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 1994 25:49:37 GMT",
                                      "Sun, 6 Nov 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 1994 08:49:37 GMT!",
                                      "Sun Nov  6 08:49:37 94",
                                      "1994-11-06T08:49:37Z"}) {
    EXPECT_EQ(parse_retry_after(text, kNow), std::nullopt) << text;
  }
}

TEST(RetryAfter, RandomTextIsHarmlessAndStaysInBounds) {
  std::mt19937 random(11);
  const std::string letters = "0123456789 ,:.-GMTSunNov\t\xFF";
  for (int i = 0; i < 50'000; ++i) {
    std::string text(random() % 32, ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    const auto wait = parse_retry_after(text, kNow);
    if (!wait) continue;
    EXPECT_GE(*wait, Duration(0));
    EXPECT_LE(*wait, Duration(24h * 365));
  }
}

}  // namespace
}  // namespace outcomed
