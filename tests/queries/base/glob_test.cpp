#include "queries/base/glob.h"

#include <gtest/gtest.h>

namespace outcomed {
namespace {

TEST(Glob, KnowsOnlyTheStar) {
  EXPECT_TRUE(glob_matches("a*c", "abbbc"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("**a**", "a"));
  EXPECT_TRUE(glob_matches("private/*", "private/qwen/7b"));
  EXPECT_FALSE(glob_matches("private/*", "private"));
  EXPECT_FALSE(glob_matches("a?c", "abc"));
  EXPECT_FALSE(glob_matches("", "a"));
}

TEST(Glob, DoesNotBacktrackOverEveryStar) {
  EXPECT_FALSE(glob_matches("*a*a*a*a*a*a*a*a*a*b", std::string(5000, 'a')));
}

}  // namespace
}  // namespace outcomed
