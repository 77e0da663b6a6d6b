#include "daemon/config/values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "daemon/config/addresses.h"
#include "daemon/config/words.h"

namespace outcomed {
namespace {

TEST(Share, IsTheDoubleNearestToWhatWasTyped) {
  EXPECT_EQ(*parse_share("10%"), 0.1);
  EXPECT_EQ(*parse_share("0.1"), 0.1);
  EXPECT_EQ(*parse_share("0.1%"), 0.001);
  EXPECT_EQ(*parse_share("99.9%"), 0.999);
  EXPECT_EQ(*parse_share("1.44%"), 0.0144);
  EXPECT_EQ(*parse_share("7%"), 0.07);
  EXPECT_EQ(*parse_share("0"), 0.0);
  EXPECT_EQ(*parse_share("0%"), 0.0);
  EXPECT_EQ(*parse_share("1.0"), 1.0);
  EXPECT_EQ(*parse_share("100%"), 1.0);
  EXPECT_EQ(*parse_share("100.0%"), 1.0);
}

TEST(Share, IsNeverAboveAHundredPercentNorAWord) {
  for (const char* text :
       {"1",    "2",   "100", "100.01%", "1e9%", "",    "%",   ".5",  "5.",  "0.5.5",
        "1e-2", "-1%", "+5%", "5%%",     "5 %",  "0x1", "inf", "nan", "١٠%", "0,5"}) {
    EXPECT_FALSE(parse_share(text)) << text;
  }
  EXPECT_FALSE(parse_share(std::string(5000, '9')));
  EXPECT_FALSE(parse_share("0." + std::string(5000, '0') + "1"));
}

TEST(Share, ComesBackFromItsTextExactly) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const double share =
        i % 2 == 0 ? double(random() % 100'001) / 100'000 : std::ldexp(double(random() >> 11), -53);
    const std::string text = share_text(share);
    const Result<double> again = parse_share(text);
    ASSERT_TRUE(again) << text;
    ASSERT_EQ(*again, share) << text;
  }
  EXPECT_EQ(share_text(0.07), "7%");
  EXPECT_EQ(share_text(0.999), "99.9%");
  EXPECT_EQ(share_text(1), "100%");
  EXPECT_EQ(share_text(0.00001), "0.001%");
  EXPECT_EQ(share_text(0), "0%");
}

TEST(Size, IsAWholeNumberWithABinaryUnit) {
  EXPECT_EQ(*parse_size("0B"), 0);
  EXPECT_EQ(*parse_size("512B"), 512);
  EXPECT_EQ(*parse_size("64MiB"), 64 << 20);
  EXPECT_EQ(*parse_size("1TiB"), 1LL << 40);
  for (const char* text : {"", "MiB", "64", "64MB", "1.5GiB", "64 MiB", "-1B", "1QiB", "9999999TiB",
                           "99999999999999999999B"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
  EXPECT_EQ(parse_size("64").error().message, "64 is not a size; did you mean 64B?");
  EXPECT_EQ(parse_size("5g").error().message, "5g is not a size; did you mean 5GiB?");
  EXPECT_EQ(parse_size("9999999TiB").error().message, "9999999TiB is too large");
  for (const std::int64_t bytes :
       {0LL, 1LL, 1023LL, 1024LL, 1LL << 40, (1LL << 40) + 1, 3LL << 20}) {
    EXPECT_EQ(*parse_size(size_text(bytes)), bytes);
  }
}

TEST(WholeNumber, IsDecimal) {
  EXPECT_EQ(*parse_whole_number("0"), 0);
  EXPECT_EQ(*parse_whole_number("-3"), -3);
  EXPECT_EQ(*parse_whole_number("9223372036854775807"), 9223372036854775807LL);
  for (const char* text : {"", "-", "+1", "01", "00", "0o17", "0x1f", "1e3", "1_000", "1.0",
                           "22:30", "9223372036854775808", " 1", "1 "}) {
    EXPECT_FALSE(parse_whole_number(text)) << text;
  }
}

TEST(Url, IsHttpWithAHostAndNothingSecret) {
  for (const char* url : {"http://a", "https://a.example:8443/x?y=z", "http://[::1]:9090/p",
                          "http://127.0.0.1", "http://a_b-c/%20"}) {
    EXPECT_TRUE(check_url(url)) << url;
  }
  for (const char* url : {"",
                          "a",
                          "a:80",
                          "//a",
                          "ftp://a",
                          "file:///x",
                          "HTTP://a",
                          "http://",
                          "http:///x",
                          "http://:80",
                          "http://u@a",
                          "http://u:p@a/",
                          "http://a b",
                          "http://a/\n",
                          "http://a/ü",
                          "http://a:0",
                          "http://a:65536",
                          "http://a:x",
                          "http://[::1",
                          "http://[::1]x",
                          "http://a#b",
                          "http://a\\b",
                          "http://[]"}) {
    EXPECT_FALSE(check_url(url)) << url;
  }
}

TEST(Url, IsNeverRepeatedInAMessage) {
  for (const char* url : {"hunter2", "ftp://hunter2", "http://hunter2:hunter2@a",
                          "http://a/hunter2 x", "http://a:hunter2", "http://a/#hunter2"}) {
    EXPECT_EQ(check_url(url).error().message.find("hunter2"), std::string::npos) << url;
  }
}

TEST(Listen, IsHostAndPort) {
  EXPECT_EQ(*parse_listen("127.0.0.1:9469"), (HostAndPort{"127.0.0.1", 9469}));
  EXPECT_EQ(*parse_listen("[::1]:1"), (HostAndPort{"::1", 1}));
  EXPECT_EQ(*parse_listen(":80"), (HostAndPort{"", 80}));
  EXPECT_EQ(*parse_listen("localhost:0"), (HostAndPort{"localhost", 0}));
  for (const char* text : {"", "9469", "127.0.0.1", "127.0.0.1:", "::1:9469", "[::1]", "[]:1",
                           "a b:1", "a:65536", "a:-1", "http://a:1"}) {
    EXPECT_FALSE(parse_listen(text)) << text;
  }
}

TEST(EditDistance, CountsSwapsOnce) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("modle", "model"), 1U);
  EXPECT_EQ(edit_distance("wehn", "when"), 1U);
  EXPECT_EQ(edit_distance("abc", "abc"), 0U);
}

TEST(Suggestion, IsTheNearestWordOrNone) {
  const std::vector<std::string> words = {"above", "below", "keep_firing_for", "for", "by"};
  EXPECT_EQ(suggest("abov", words), "above");
  EXPECT_EQ(suggest("Keep-Firing-For", words), "keep_firing_for");
  EXPECT_EQ(suggest("fro", words), "for");
  EXPECT_EQ(suggest("runbook", words), std::nullopt);
  EXPECT_EQ(suggest("", words), std::nullopt);
  EXPECT_EQ(suggest("x", words), std::nullopt);
  EXPECT_EQ(suggest(std::string(10'000, 'a'), words), std::nullopt);
}

TEST(Shown, QuotesAndCutsWhatIsNotAPlainWord) {
  EXPECT_EQ(shown("gpt-4.1"), "gpt-4.1");
  EXPECT_EQ(shown(""), "\"\"");
  EXPECT_EQ(shown("a\nb"), "\"a\\nb\"");
  EXPECT_EQ(shown("\x1b[31m"), "\"\\x1b[31m\"");
  const std::string cut = shown(std::string("ж") + std::string(200, 'x'));
  EXPECT_EQ(cut, "\"ж" + std::string(59, 'x') + "…\"");
}

}  // namespace
}  // namespace outcomed
