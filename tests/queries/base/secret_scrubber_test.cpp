#include "queries/base/secret_scrubber.h"

#include <gtest/gtest.h>

namespace outcomed {
namespace {

std::string scrub(const std::string& secret, const std::string& text) {
  return SecretScrubber({Secret(secret)}).scrub(text);
}

TEST(Base64, IsThatOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xFF\xFE\xFD"), "//79");
}

TEST(SecretScrubber, BlanksOutASecretWhereverItStands) {
  EXPECT_EQ(scrub("t0ken", "t0ken and t0ken, at0kenb"), "*** and ***, a***b");
  EXPECT_EQ(scrub("t0ken", "nothing of it"), "nothing of it");
  EXPECT_EQ(SecretScrubber().scrub("as it is"), "as it is");
}

TEST(SecretScrubber, KnowsTheFormsInWhichServersRepeatIt) {
  EXPECT_EQ(scrub("user:pass:word", "Basic dXNlcjpwYXNzOndvcmQ="), "Basic ***");
  EXPECT_EQ(scrub("a/b c+d", "?key=a%2Fb%20c%2Bd"), "?key=***");
  EXPECT_EQ(scrub(R"(a"b\c/d)", R"({"key":"a\"b\\c/d"})"), R"({"key":"***"})");
  EXPECT_EQ(scrub(R"(a"b\c/d)", R"({"key":"a\"b\\c\/d"})"), R"({"key":"***"})");
}

TEST(SecretScrubber, ALongerSecretGoesBeforeOneThatItHolds) {
  const SecretScrubber scrubber({Secret("pass"), Secret("user:password")});
  EXPECT_EQ(scrubber.scrub("user:password, pass"), "***, ***");
}

TEST(SecretScrubber, BlanksOutASecretThatWasCutWithAnExcerpt) {
  EXPECT_EQ(scrub("0123456789abcdef", "token 0123456789ab"), "token ***");
  EXPECT_EQ(scrub("0123456789abcdef", "token 0123456789ab…"), "token ***…");
  EXPECT_EQ(scrub("0123456789abcdef", "token 0123"), "token 0123");  // Too little to be of use.
}

TEST(SecretScrubber, LeavesAloneWhatIsTooShortToBeASecret) {
  EXPECT_EQ(scrub("abc", "abc"), "abc");
  EXPECT_EQ(scrub("abcd", "abcd"), "***");
}

}  // namespace
}  // namespace outcomed
