// Which files may be opened, and what happens to the others.
#include "tests/daemon/storage/store_file_fixture.h"

namespace outcomed::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST_F(StoreFileTest, FolderAndFilesAreMadeForTheOwnerAlone) {
  const mode_t umask_before = umask(0);
  const std::string path = folder_ / "a/b/history.db";
  const auto store = open_store(path);
  umask(umask_before);
  ASSERT_NE(store, nullptr);
  ASSERT_OK(store->commit(tick_with_alerts({firing_alert(key_of("r", "x"), 1)})));
  EXPECT_EQ(mode_of(folder_ / "a"), 0700U);
  EXPECT_EQ(mode_of(folder_ / "a/b"), 0700U);
  EXPECT_EQ(mode_of(path), 0600U);
  EXPECT_EQ(mode_of(path + "-wal"), 0600U);
  EXPECT_FALSE(fs::exists(path + "-shm")) << "the log's index must not be shared";
}

TEST_F(StoreFileTest, DurabilityIsNotTradedForSpeed) {
  const auto store = open_store(path_);
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(read_file(path_).substr(18, 2), "\x02\x02") << "write-ahead log";
}

TEST_F(StoreFileTest, ASecondOpenInTheSameProcessIsRefusedAndHarmsNothing) {
  const auto first = open_store(path_);
  ASSERT_NE(first, nullptr);
  const Error error = refusal_of(path_);
  EXPECT_EQ(error.kind, ErrorKind::unavailable);
  EXPECT_THAT(error.message, HasSubstr(path_));
  EXPECT_THAT(error.message, HasSubstr("another process has it open"));
  ASSERT_OK(first->commit(tick_with_alerts({firing_alert(key_of("r", "x"), 1)})));
}

TEST_F(StoreFileTest, ASecondProcessIsRefusedUntilTheFirstIsGone) {
  ChildProcess holder([&](const ChildProcess::Tell& tell) {
    const auto store = SqliteStore::open(path_);
    if (!store) return 1;
    if (!(*store)->commit(tick_with_alerts({firing_alert(key_of("r", "x"), 1)}))) return 2;
    tell();
    pause();
    return 0;
  });
  ASSERT_TRUE(holder.hear());
  EXPECT_EQ(refusal_of(path_).kind, ErrorKind::unavailable);
  const auto reader = SqliteStore::open_read_only(path_);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(reader.error().message, HasSubstr("another process has it open"));
  const Status moved = set_aside(path_, minute(0));
  ASSERT_FALSE(moved) << "a file in use was moved away";
  EXPECT_EQ(moved.error().kind, ErrorKind::unavailable);

  holder.kill();
  const auto store = open_store(path_);
  ASSERT_NE(store, nullptr);
  EXPECT_THAT(value_of(store->alerts()), SizeIs(1));
}

TEST_F(StoreFileTest, AForeignReaderIsWaitedForOnlyAShortWhile) {
  make_history();
  ChildProcess reader([&](const ChildProcess::Tell& tell) {
    sqlite3* other = nullptr;
    if (sqlite3_open(path_.c_str(), &other) != SQLITE_OK) return 1;
    if (sqlite3_exec(other, "BEGIN; SELECT * FROM alert", nullptr, nullptr, nullptr) != SQLITE_OK) {
      return 2;
    }
    tell();
    pause();
    return 0;
  });
  ASSERT_TRUE(reader.hear());
  EXPECT_EQ(refusal_of(path_).kind, ErrorKind::unavailable);
}

TEST_F(StoreFileTest, AFileOfANewerReleaseIsRefusedUnchanged) {
  make_history();
  run_sql(path_, "PRAGMA user_version = 99");
  const std::string before = read_file(path_);
  const Error error = refusal_of(path_);
  EXPECT_EQ(error.kind, ErrorKind::invalid);
  EXPECT_THAT(error.message, HasSubstr("newer release (schema 99"));
  EXPECT_THAT(error.message, HasSubstr("install that release again"));
  EXPECT_FALSE(SqliteStore::open_read_only(path_));
  EXPECT_FALSE(set_aside(path_, minute(0)));
  EXPECT_TRUE(read_file(path_) == before) << "the file was changed";
}

TEST_F(StoreFileTest, ADatabaseOfAnotherProgramIsRefusedUnchanged) {
  run_sql(path_, "CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)");
  const std::string before = read_file(path_);
  const Error error = refusal_of(path_);
  EXPECT_EQ(error.kind, ErrorKind::invalid);
  EXPECT_THAT(error.message, HasSubstr("belongs to another program"));
  EXPECT_FALSE(SqliteStore::open_read_only(path_));
  EXPECT_FALSE(set_aside(path_, minute(0)));
  EXPECT_TRUE(read_file(path_) == before) << "the file was changed";
}

TEST_F(StoreFileTest, AnEmptyFileBecomesAStore) {
  write_file(path_, "");
  const auto store = open_store(path_);
  ASSERT_NE(store, nullptr);
  ASSERT_OK(store->commit(tick_with_alerts({firing_alert(key_of("r", "x"), 1)})));
}

TEST_F(StoreFileTest, DamagedFilesAreCalledCorruptAndCanBeSetAside) {
  make_history();
  const std::string sound = read_file(path_);
  ASSERT_GT(sound.size(), 20U * 4096U);
  std::string garbage(8192, '\0');
  std::mt19937 random(1);
  for (char& c : garbage) c = static_cast<char>(random());
  std::string damaged_page = sound;
  for (std::size_t i = 0; i < 4096; ++i) damaged_page[2 * 4096 + i] ^= 0x5a;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"random bytes", garbage},
      {"text", "this is not a database, it is a letter that somebody saved here\n"},
      {"damaged page", damaged_page},
      {"half of it", sound.substr(0, sound.size() / 2)},
      {"zeros", std::string(8192, '\0')},
  };
  for (const auto& [name, bytes] : cases) {
    SCOPED_TRACE(name);
    write_file(path_, bytes);
    write_file(path_ + "-wal", "a stray log");
    const Error error = refusal_of(path_);
    EXPECT_EQ(error.kind, ErrorKind::corrupt) << error.message;
    EXPECT_THAT(error.message, HasSubstr(path_));
    ASSERT_OK(set_aside(path_, from_unix_ms(1'796'040'240'000)));
    EXPECT_TRUE(read_file(path_ + ".corrupt-20261130T120400Z") == bytes);
    EXPECT_FALSE(fs::exists(path_));
    EXPECT_FALSE(fs::exists(path_ + "-wal"));
    const auto store = open_store(path_);
    ASSERT_NE(store, nullptr);
    ASSERT_OK(store->commit(tick_with_alerts({firing_alert(key_of("r", "x"), 1)})));
  }
}

// Damage that the check doesn't see may be met later: every answer is a value or an error.
TEST_F(StoreFileTest, NoDamageBringsItDown) {
  make_history();
  const std::string sound = read_file(path_);
  std::mt19937 random(20261130);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  int refused = 0;
  for (int round = 0; round < 150; ++round) {
    std::string bytes = sound;
    for (std::size_t hits = 1 + below(40); hits > 0; --hits) {
      bytes[below(bytes.size())] = static_cast<char>(random());
    }
    if (below(4) == 0) bytes.resize(below(bytes.size()));
    write_file(path_, bytes);
    fs::remove(path_ + "-wal");
    auto store = SqliteStore::open(path_);
    if (!store) {
      ++refused;
      EXPECT_TRUE(store.error().kind == ErrorKind::corrupt ||
                  store.error().kind == ErrorKind::invalid)
          << store.error().message;
      continue;
    }
    (void)(*store)->alerts();
    (void)(*store)->buckets("requests", {minute(0), minute(1000)});
    (void)(*store)->queued("oncall");
    (void)(*store)->commit(tick_with_alerts({firing_alert(key_of("r", "y"), 1)}));
    (void)(*store)->prune(minute(0) + 24h * 500);
  }
  EXPECT_GT(refused, 10);
  EXPECT_LT(refused, 150);
}

TEST_F(StoreFileTest, ARowThatMakesNoSenseIsReportedAndTheOthersStayReadable) {
  make_history();
  run_sql(path_, "UPDATE alert SET phase = 'sleeping'");
  const auto store = open_store(path_);
  ASSERT_NE(store, nullptr);
  const auto alerts = store->alerts();
  ASSERT_FALSE(alerts);
  EXPECT_EQ(alerts.error().kind, ErrorKind::corrupt);
  EXPECT_THAT(alerts.error().message, HasSubstr("read the alerts: column 4: not a phase"));
  EXPECT_THAT(value_of(store->buckets("requests", {minute(0), minute(300)})), SizeIs(300));
  EXPECT_EQ(store->broken(), std::nullopt);
}

TEST_F(StoreFileTest, PlantedFilesAreRefusedAndTheirTargetsStayUntouched) {
  const std::string victim = folder_ / "victim";
  for (const std::string suffix : {"", "-wal", "-journal", "-shm"}) {
    const std::string planted = path_ + suffix;
    SCOPED_TRACE(planted);
    write_file(victim, "precious");

    fs::create_symlink(victim, planted);
    Error error = refusal_of(path_);
    EXPECT_EQ(error.kind, ErrorKind::invalid);
    EXPECT_THAT(error.message, HasSubstr(planted + ": is a symbolic link"));
    fs::remove(planted);

    fs::create_hard_link(victim, planted);
    EXPECT_THAT(refusal_of(path_).message, HasSubstr("second name"));
    fs::remove(planted);

    ASSERT_EQ(mkfifo(planted.c_str(), 0600), 0);
    EXPECT_THAT(refusal_of(path_).message, HasSubstr("not a regular file"));
    fs::remove(planted);

    fs::create_directory(planted);
    EXPECT_THAT(refusal_of(path_).message, HasSubstr("not a regular file"));
    fs::remove(planted);

    EXPECT_EQ(read_file(victim), "precious");
    fs::remove(path_);
  }
  EXPECT_EQ(read_file("/dev/null"), "");
  EXPECT_EQ(refusal_of("/dev/null").kind, ErrorKind::invalid);
}

TEST_F(StoreFileTest, AFolderMayBeReachedThroughALink) {
  // systemd's DynamicUser= makes /var/lib/NAME a link.
  fs::create_directory(folder_ / "private");
  fs::create_directory_symlink(folder_ / "private", folder_ / "public");
  EXPECT_NE(open_store(folder_ / "public/history.db"), nullptr);
  EXPECT_TRUE(fs::exists(folder_ / "private/history.db"));
}

TEST_F(StoreFileTest, AFolderThatAnyoneMayChangeIsRefused) {
  fs::create_directory(folder_ / "open");
  ASSERT_EQ(chmod((folder_ / "open").c_str(), 0777), 0);
  const Error error = refusal_of(folder_ / "open/history.db");
  EXPECT_EQ(error.kind, ErrorKind::invalid);
  EXPECT_THAT(error.message, HasSubstr("every user may write to this folder; chmod it to 0700"));
  ASSERT_EQ(chmod((folder_ / "open").c_str(), 01777), 0);
  EXPECT_NE(open_store(folder_ / "open/history.db"), nullptr);
}

TEST_F(StoreFileTest, NamesThatAreNoFilesAreRefused) {
  write_file(folder_ / "file", "");
  for (const std::string& path : {std::string(), std::string("."), folder_ / "", folder_ / "..",
                                  folder_ / "file/history.db", std::string("a\0b", 3)}) {
    const Error error = refusal_of(path);
    EXPECT_EQ(error.kind, ErrorKind::invalid) << path;
    EXPECT_FALSE(error.message.empty());
  }
}

TEST_F(StoreFileTest, OtherUsersFilesAndFoldersAreRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  ASSERT_EQ(chmod(folder_.path().c_str(), 01777), 0);
  write_file(path_, "");
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  fs::create_directory(folder_ / "roots");
  ChildProcess nobody([&](const ChildProcess::Tell&) {
    if (seteuid(65534) != 0) return 1;
    const auto theirs = SqliteStore::open(path_);
    if (theirs || theirs.error().kind != ErrorKind::invalid) return 2;
    if (theirs.error().message.find("belongs to another user") == std::string::npos) return 3;
    const auto closed = SqliteStore::open(folder_ / "roots/history.db");
    if (closed || closed.error().kind != ErrorKind::invalid) return 4;
    if (closed.error().message.find("Permission denied") == std::string::npos) return 5;
    if (!SqliteStore::open(folder_ / "mine.db")) return 6;
    return 0;
  });
  EXPECT_EQ(nobody.wait(), 0);
}

}  // namespace
}  // namespace outcomed::testing
