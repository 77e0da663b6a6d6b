#include "daemon/net/secret_reader.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/daemon/net/net_fixture.h"

namespace outcomed::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SecretReaderTest : public NetTest {
 protected:
  std::string read(const SecretRef& ref) {
    auto secret = secrets.read(ref);
    return secret ? secret->reveal() : "error: " + secret.error().message;
  }
  void expect_refused(const SecretRef& ref, const std::string& reason) {
    auto secret = secrets.read(ref);
    ASSERT_FALSE(secret) << ref.to_string();
    EXPECT_EQ(secret.error().kind, ErrorKind::invalid);
    EXPECT_THAT(secret.error().message, HasSubstr(ref.to_string()));
    EXPECT_THAT(secret.error().message, HasSubstr(reason));
  }
};

TEST_F(SecretReaderTest, TrimsWhiteSpaceAroundAndKeepsItInside) {
  EXPECT_EQ(read(file_ref(write_file(folder / "a", "token\n"))), "token");
  EXPECT_EQ(read(file_ref(write_file(folder / "b", " \t\r\ntwo words\r\n\n"))), "two words");
  EXPECT_EQ(read(file_ref(write_file(folder / "c", "token"))), "token");
  environment["TOKEN"] = " token ";
  EXPECT_EQ(read(env_ref("TOKEN")), "token");
}

TEST_F(SecretReaderTest, LiteralsAreReturnedAsTheyAre) {
  EXPECT_EQ(read(literal(" text ")), " text ");
  EXPECT_EQ(read(literal("")), "");
}

TEST_F(SecretReaderTest, AReplacedFileCountsAtTheNextRead) {
  const SecretRef ref = file_ref(write_file(folder / "token", "old1"));
  EXPECT_EQ(read(ref), "old1");
  ASSERT_EQ(write_file(folder / "token", "new1"), ref.name);
  EXPECT_EQ(read(ref), "new1");
  // Written in place with the same length, within the resolution of the file's time stamps.
  for (const std::string text : {"aaaa", "bbbb", "cccc"}) {
    std::ofstream(ref.name) << text;
    EXPECT_EQ(read(ref), text);
  }
}

TEST_F(SecretReaderTest, ABrieflyEmptyFileIsAnErrorAndThenReadAgain) {
  const SecretRef ref = file_ref(write_file(folder / "token", "one"));
  std::ofstream(ref.name).close();
  expect_refused(ref, "is empty");
  std::ofstream(ref.name) << "two";
  EXPECT_EQ(read(ref), "two");
}

TEST_F(SecretReaderTest, BlankSecretsAreRefused) {
  expect_refused(file_ref(write_file(folder / "blank", " \n\t\r\n")), "is empty");
  environment["BLANK"] = " ";
  expect_refused(env_ref("BLANK"), "is empty");
  expect_refused(env_ref("MISSING"), "not set");
  EXPECT_FALSE(secrets.read(SecretRef{}));
}

TEST_F(SecretReaderTest, FilesThatOthersMayUseAreRefusedWithTheRemedy) {
  for (const mode_t mode : {0644U, 0604U, 0602U, 0601U, 0660U, 0620U, 0610U, 0666U, 0777U}) {
    expect_refused(file_ref(write_file(folder / "open", "canary-7f3a", mode)), "chmod 06");
    EXPECT_THAT(read(file_ref(folder / "open")), Not(HasSubstr("canary-7f3a")));
  }
  for (const mode_t mode : {0600U, 0400U, 0700U, 0500U}) {
    EXPECT_EQ(read(file_ref(write_file(folder / "closed", "x", mode))), "x") << mode;
  }
}

TEST_F(SecretReaderTest, GroupMayReadWhatRootOwns) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to own the files";
  EXPECT_EQ(read(file_ref(write_file(folder / "group", "x", 0640))), "x");
  EXPECT_EQ(read(file_ref(write_file(folder / "group", "x", 0440))), "x");
}

TEST_F(SecretReaderTest, FilesOfAnotherUserAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to give files away";
  const std::string path = write_file(folder / "foreign", "x");
  ASSERT_EQ(::chown(path.c_str(), 12345, 0), 0);
  expect_refused(file_ref(path), "belongs to user 12345");
}

TEST_F(SecretReaderTest, OnlyRegularFilesAreRead) {
  expect_refused(file_ref(folder / "missing"), "No such file");
  ASSERT_EQ(::mkdir((folder / "directory").c_str(), 0700), 0);
  expect_refused(file_ref(folder / "directory"), "regular file");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_refused(file_ref(folder / "pipe"), "regular file");  // And does not hang.
  expect_refused(file_ref("/dev/zero"), "regular file");
  ASSERT_EQ(::symlink(write_file(folder / "target", "x").c_str(), (folder / "link").c_str()), 0);
  expect_refused(file_ref(folder / "link"), "symbolic link");
}

TEST_F(SecretReaderTest, SecretsMayHave64KiBAndNotOneByteMore) {
  const std::string largest(std::size_t{64} * 1024, 's');
  EXPECT_EQ(read(file_ref(write_file(folder / "largest", largest))), largest);
  expect_refused(file_ref(write_file(folder / "larger", largest + "s")), "64 KiB");
}

TEST_F(SecretReaderTest, CredentialsLieBelowSystemdsDirectory) {
  write_file(folder / "api_key", "key\n", 0400);
  expect_refused(cred_ref("api_key"), "LoadCredential=api_key");
  environment["CREDENTIALS_DIRECTORY"] = (folder / "");
  EXPECT_EQ(read(cred_ref("api_key")), "key");
  expect_refused(cred_ref("other"), "No such file");
}

TEST_F(SecretReaderTest, CredentialNamesCantLeaveTheDirectory) {
  ASSERT_EQ(::mkdir((folder / "credentials").c_str(), 0700), 0);
  write_file(folder / "outside", "x");
  environment["CREDENTIALS_DIRECTORY"] = (folder / "credentials");
  for (const std::string name : {"../outside", "..", ".", "/etc/passwd", "a/b"}) {
    expect_refused(cred_ref(name), "bare file name");
  }
}

TEST(ProcessEnvironmentTest, TellsUnsetFromEmpty) {
  ::setenv("OUTCOMED_TEST_EMPTY", "", 1);
  ::unsetenv("OUTCOMED_TEST_UNSET");
  const Environment environment = process_environment();
  EXPECT_EQ(environment("OUTCOMED_TEST_EMPTY"), "");
  EXPECT_EQ(environment("OUTCOMED_TEST_UNSET"), std::nullopt);
}

}  // namespace
}  // namespace outcomed::testing
