#include "detectors/sentence.h"

#include <gtest/gtest.h>

#include "detectors/verdict.h"

namespace outcomed {
namespace {

TEST(Printable, ShowsEachControlCharacterAsAQuestionMark) {
  EXPECT_EQ(printable("a\x1b[31mb\n\tc\x7f"), "a?[31mb??c?");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "?31m")
      << "CSI in one character";
  EXPECT_EQ(printable(std::string_view("\0", 1)), "?");
}

TEST(Printable, KeepsLettersOfEveryScript) {
  for (const char* text : {"", "gpt-4o (eu)", "modèle", "模型", "\xc2\xa0", "\xc2"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Subject, OfAHostileNameIsOneLineOfText) {
  EXPECT_EQ(subject({{"model", "a\nb"}, {"team", "\x1b]0;x\x07"}}), "a?b (team=?]0;x?)");
}

TEST(Verdict, SaysSinceWhenOnlyWhereSomethingChanged) {
  Verdict verdict;
  add_since(verdict);
  EXPECT_TRUE(verdict.facts.empty());
  verdict.onset = from_unix_ms(1'796'040'000'000);
  add_since(verdict);
  ASSERT_EQ(verdict.facts.size(), 1U);
  EXPECT_EQ(verdict.facts[0].second, "2026-11-30T12:00:00Z");
}

}  // namespace
}  // namespace outcomed
