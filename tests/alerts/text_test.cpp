#include "alerts/text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace outcomed {
namespace {

const std::string kBad = "\xEF\xBF\xBD";

TEST(RepairUtf8, ValidTextComesBackUnchanged) {
  for (const std::string_view text :
       {"", "abc", "\x01\x7F", "é", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
        "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "日本語 😀"}) {
    EXPECT_EQ(repair_utf8(text), text);
  }
  EXPECT_EQ(repair_utf8(std::string_view("a\0b", 3)), std::string_view("a\0b", 3));
}

TEST(RepairUtf8, EachMaximalInvalidSequenceBecomesOneReplacement) {
  struct Case {
    std::string_view text;
    std::string want;
  };
  const Case cases[] = {
      {"\x80", kBad},                                   // A stray continuation byte.
      {"a\xFF\xFE", "a" + kBad + kBad},                 // Bytes that never occur.
      {"\xC3", kBad},                                   // Cut at the end.
      {"\xC3z", kBad + "z"},                            // The letter behind it survives.
      {"\xC0\xA7", kBad + kBad},                        // Overlong quote.
      {"\xE0\x80\xAF", kBad + kBad + kBad},             // Overlong slash.
      {"\xED\xA0\x80", kBad + kBad + kBad},             // A surrogate.
      {"\xF4\x90\x80\x80", kBad + kBad + kBad + kBad},  // Above U+10FFFF.
      {"\xF0\x9F\x98", kBad},                           // Three bytes of an emoji: one piece.
      {"\xE2\x82x\xE2\x82\xAC", kBad + "x\xE2\x82\xAC"},
      {"\xF5\x80", kBad + kBad},
  };
  for (const Case& c : cases) EXPECT_EQ(repair_utf8(c.text), c.want);
}

TEST(RepairUtf8, RandomBytesBecomeTextThatAStrictParserAccepts) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 24, '\0');
    for (char& c : bytes)
      c = static_cast<char>(random() % 3 == 0 ? random() % 128 : random() % 256);
    const std::string repaired = repair_utf8(bytes);
    EXPECT_EQ(repair_utf8(repaired), repaired);
    EXPECT_NO_THROW(static_cast<void>(nlohmann::json(repaired).dump()));
  }
}

TEST(RepairUtf8, NamesAndValuesOfLabelsAreRepaired) {
  const Labels labels = repair_utf8(Labels{{"a\xFF", "b\xFE"}, {"ok", "é"}});
  EXPECT_EQ(labels.get("a" + kBad), "b" + kBad);
  EXPECT_EQ(labels.get("ok"), "é");
}

TEST(CutText, CutsOnACharacterBorderAndSaysSo) {
  EXPECT_EQ(cut_text("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_text("abcdefg", 6), "abc…");
  EXPECT_EQ(cut_text("äöüß", 7),
            "äö…");  // The third letter would need a seventh byte and "…" three.
  EXPECT_EQ(cut_text("😀😀", 6), "…");
  EXPECT_EQ(cut_text("abcd", 3), "…");
  for (std::size_t max = 3; max < 40; ++max) {
    const std::string cut = cut_text("aé日😀aé日😀aé日😀aé日😀", max);
    EXPECT_LE(cut.size(), max);
    EXPECT_EQ(repair_utf8(cut), cut);
  }
}

TEST(OneLine, NothingThatBreaksALineStays) {
  EXPECT_EQ(one_line("a\r\nb\tc\x1B[2Jd\x7F"), "a  b c [2Jd ");
  EXPECT_EQ(one_line("a\xE2\x80\xA8"
                     "b\xE2\x80\xA9"
                     "c\xC2\x85"
                     "d\xC2\x9F"),
            "a b c d ");
  EXPECT_EQ(one_line("é\xC2\xA0日"), "é\xC2\xA0日");
}

TEST(LabelName, TheNearestClassicNameIsMade) {
  EXPECT_EQ(label_name("error_class"), "error_class");
  EXPECT_EQ(label_name("error-class"), "error_class");
  EXPECT_EQ(label_name("9lives"), "_9lives");
  EXPECT_EQ(label_name(""), "_");
  EXPECT_EQ(label_name("a:b.c"), "a_b_c");
  EXPECT_EQ(label_name("é"), "__");
  for (const std::string_view name : {"", "-", "9", "a b", "x\n{}"}) {
    EXPECT_TRUE(is_label_name(label_name(name)));
  }
  EXPECT_FALSE(is_label_name(""));
  EXPECT_FALSE(is_label_name("9a"));
  EXPECT_FALSE(is_label_name("a-b"));
  EXPECT_TRUE(is_label_name("__name__"));
}

TEST(WebUrl, OnlyWebLinksWithAHostAreLinks) {
  for (const std::string_view url : {"http://a", "https://a.example/x?y=z#w", "http://[::1]:9469/",
                                     "http://a:80", "http://a-b.c_d:1/%2F?%20"}) {
    EXPECT_TRUE(is_web_url(url)) << url;
  }
  for (const std::string_view url : {"",
                                     "http://",
                                     "https:///x",
                                     "http://?q",
                                     "javascript:alert(1)",
                                     "data:text/html,x",
                                     "ftp://a",
                                     "//a",
                                     "http://a b",
                                     "http://a\n",
                                     "http://a\"onx=",
                                     "http://a<b>",
                                     "HTTP//a",
                                     "/x",
                                     "http://\xC3\xA9",
                                     "http://[::1",
                                     "http://[]",
                                     "http://[::1]x",
                                     "http://a:port/",
                                     "http://a/%zz",
                                     "http://a/%2",
                                     "http://u:p@a/",
                                     "http://a:80:80",
                                     "http://a/{{x}}"}) {
    EXPECT_FALSE(is_web_url(url)) << url;
  }
}

}  // namespace
}  // namespace outcomed
