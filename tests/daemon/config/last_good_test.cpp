#include "daemon/config/last_good.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/temp_folder.h"

namespace outcomed {
namespace {

TEST(LastGood, GivesBackWhatWasKeptLast) {
  const testing::TempFolder folder;
  const LastGood copy(folder.path());
  EXPECT_EQ(copy.read(), std::nullopt);
  ASSERT_TRUE(copy.keep("sources: {}\n"));
  ASSERT_TRUE(copy.keep("rules: []\n"));
  EXPECT_EQ(LastGood(folder.path()).read(), "rules: []\n");
}

TEST(LastGood, IsForItsOwnerOnly) {
  const testing::TempFolder folder;
  const LastGood copy(folder.path());
  ASSERT_TRUE(copy.keep("x"));
  struct stat status {};
  ASSERT_EQ(stat(copy.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST(LastGood, KeepsTheOldCopyWhereTheNewOneCantBeWritten) {
  const testing::TempFolder folder;
  const LastGood copy(folder.path());
  ASSERT_TRUE(copy.keep("old"));
  std::filesystem::create_directory(folder / "last-good.yaml.new");  // In the way.
  EXPECT_FALSE(copy.keep("new"));
  EXPECT_EQ(copy.read(), "old");
}

TEST(LastGood, WithoutAFolderKeepsNothing) {
  const LastGood copy("");
  EXPECT_TRUE(copy.keep("x"));
  EXPECT_EQ(copy.read(), std::nullopt);
}

}  // namespace
}  // namespace outcomed
