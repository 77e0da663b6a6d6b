// The history read while no daemon runs.
#include "tests/daemon/storage/store_file_fixture.h"

namespace outcomed::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST_F(StoreFileTest, ReadersSeeTheHistoryWhenNoDaemonRunsAndCannotWrite) {
  make_history();
  const auto reader = SqliteStore::open_read_only(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_THAT(value_of((*reader)->alerts()), SizeIs(1));
  const Status refused = (*reader)->commit(tick_with_alerts({}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("for reading only"));
  EXPECT_FALSE((*reader)->prune(minute(0)));
}

TEST_F(StoreFileTest, ReadersSeeWhatACrashedDaemonLeftInItsLog) {
  ChildProcess daemon([&](const ChildProcess::Tell& tell) {
    const auto store = SqliteStore::open(path_);
    if (!store || !(*store)->commit(tick_with_alerts({firing_alert(key_of("r", "x"), 1)})))
      return 1;
    tell();
    pause();
    return 0;
  });
  ASSERT_TRUE(daemon.hear());
  daemon.kill();
  {
    const auto reader = SqliteStore::open_read_only(path_);
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_THAT(value_of((*reader)->alerts()), SizeIs(1));
  }
  const auto store = open_store(path_);
  ASSERT_NE(store, nullptr);
  EXPECT_THAT(value_of(store->alerts()), SizeIs(1));
}

// Root may write everywhere: as long as this lives, we are nobody.
class AsNobody {
 public:
  AsNobody() {
    if (is_root_ && seteuid(65534) != 0) ADD_FAILURE() << "seteuid";
  }
  ~AsNobody() {
    if (is_root_ && seteuid(0) != 0) ADD_FAILURE() << "seteuid";
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  const bool is_root_ = geteuid() == 0;
};

TEST_F(StoreFileTest, ReadersSeeACopyInAFolderThatTheyMayNotWriteTo) {
  make_history();
  const fs::path folder = folder_ / "read only?";
  const std::string copy = folder / "50%.sqlite";
  fs::create_directory(folder);
  fs::copy_file(path_, copy);
  fs::permissions(copy, fs::perms(0444));
  fs::permissions(folder_.path(), fs::perms(0755));
  fs::permissions(folder, fs::perms(0555));
  {
    const AsNobody nobody;
    const auto reader = SqliteStore::open_read_only(copy);
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_THAT(value_of((*reader)->alerts()), SizeIs(1));
    EXPECT_FALSE((*reader)->commit(tick_with_alerts({})));
    EXPECT_FALSE(fs::exists(copy + "-wal"));
  }
  fs::permissions(folder, fs::perms(0755));
  write_file(copy + "-wal", "what is newer than the file");
  fs::permissions(folder, fs::perms(0555));
  {
    const AsNobody nobody;
    EXPECT_FALSE(SqliteStore::open_read_only(copy)) << "a part was taken for the whole";
  }
  fs::permissions(folder, fs::perms(0755));
}

TEST_F(StoreFileTest, ReadingWhatIsNotThereNamesTheFile) {
  const auto missing = SqliteStore::open_read_only(path_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::invalid);
  EXPECT_THAT(missing.error().message, HasSubstr(path_ + ": No such file"));
  EXPECT_FALSE(fs::exists(path_)) << "a reader made a file";
  write_file(path_, "");
  const auto empty = SqliteStore::open_read_only(path_);
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("holds no history yet"));
}

}  // namespace
}  // namespace outcomed::testing
