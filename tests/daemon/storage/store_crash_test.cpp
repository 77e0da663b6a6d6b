// All of a commit or nothing of it: after a kill, on a full disk, and against a model.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "daemon/storage/sqlite_store.h"
#include "tests/daemon/storage/child_process.h"
#include "tests/daemon/storage/rows.h"
#include "tests/support/temp_folder.h"

namespace outcomed::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const AlertKey kKey = key_of("crash", "judge");

// Tick `i` says `i` in each of its parts. Large enough that logs are moved into the file often.
TickRecord tick(int i) {
  TickRecord record;
  record.sources = {{"prom", minute(i), std::string(30'000, static_cast<char>('a' + i % 26))}};
  record.cells = {{"requests", static_cast<std::uint32_t>(i), {{"tick", std::to_string(i)}}}};
  record.buckets = {{"requests", minute(i), 60s, 0, std::string(60'000, 'b')}};
  record.snapshots = {{"crash", "hash", minute(i), std::string(30'000, 's')}};
  AlertState state = firing_alert(kKey, 0);
  state.last_step = minute(i);
  record.alerts = {state};
  record.episodes = {episode_of(kKey, i)};
  record.outbox = {news_of(record.episodes[0], "oncall", AlertStatus::firing),
                   news_of(record.episodes[0], "hooks", AlertStatus::firing)};
  return record;
}

// The tick the store is at, -1 for none; checks that every part of it says the same.
int whole_tick(SqliteStore& store) {
  const auto sources = value_of(store.sources());
  if (sources.empty()) {
    EXPECT_TRUE(value_of(store.alerts()).empty());
    EXPECT_TRUE(value_of(store.queued("oncall")).empty());
    return -1;
  }
  const auto at = static_cast<int>((sources.at(0).watermark - minute(0)) / 60s);
  const auto count = static_cast<std::size_t>(at) + 1;
  EXPECT_THAT(value_of(store.cells()), SizeIs(count));
  EXPECT_THAT(value_of(store.buckets("requests", {minute(0), minute(1 << 20)})), SizeIs(count));
  EXPECT_EQ(value_of(store.snapshots()).at(0).at, minute(at));
  EXPECT_EQ(value_of(store.alerts()).at(0).last_step, minute(at));
  EXPECT_THAT(value_of(store.episodes({})), SizeIs(count));
  for (const std::string receiver : {"oncall", "hooks"}) {
    const auto rows = value_of(store.queued(receiver));
    EXPECT_THAT(rows, SizeIs(count));
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(),
                               [](const auto& a, const auto& b) { return a.id < b.id; }));
  }
  return at;
}

TEST(StoreCrashTest, AKillLosesNoCommitAndLeavesNoHalfOfOne) {
  TempFolder folder;
  const std::string path = folder / "history.db";
  std::mt19937 random(7);
  int committed = -1;
  for (int round = 0; round < 40; ++round) {
    ChildProcess daemon([&](const ChildProcess::Tell& tell) {
      auto store = SqliteStore::open(path);
      if (!store) return 1;
      for (int i = committed + 1;; ++i) {
        if (!(*store)->commit(tick(i))) return 2;
        tell();
      }
    });
    const int ticks = static_cast<int>(random() % 12);
    int heard = 0;
    while (heard < ticks && daemon.hear()) ++heard;
    // Somewhere in the next commit; the machine's own timing adds to it.
    for (auto spins = random() % 3'000'000; spins > 0; --spins) asm volatile("");
    daemon.kill();
    while (daemon.hear()) ++heard;  // What it still told.

    const auto store = open_store(path);
    ASSERT_NE(store, nullptr);
    const int at = whole_tick(*store);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
    ASSERT_GE(at, committed + heard) << "a commit that was reported is gone";
    ASSERT_LE(at, committed + heard + 1);
    committed = at;
  }
  EXPECT_GT(committed, 40);
}

// A file system of its own for this process, so that it can be filled.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& folder, const char* size) : folder_(folder) {
    ready_ = unshare(CLONE_NEWNS) == 0 &&
             mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
             mount("tmpfs", folder.c_str(), "tmpfs", 0, size) == 0 &&
             chmod(folder.c_str(), 0700) == 0;
  }
  ~SmallDisk() {
    if (ready_) umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] bool ready() const { return ready_; }
  void fill() const {
    const int file = open(filler().c_str(), O_CREAT | O_WRONLY, 0600);
    const std::string block(4096, 'f');
    while (write(file, block.data(), block.size()) > 0) {
    }
    close(file);
  }
  void make_room() const { std::filesystem::remove(filler()); }

 private:
  [[nodiscard]] std::string filler() const { return folder_ + "/filler"; }

  std::string folder_;
  bool ready_ = false;
};

TEST(StoreCrashTest, AFullDiskStopsCommitsAndNothingElse) {
  TempFolder folder;
  const SmallDisk disk(folder.path().string(), "size=4m");
  if (!disk.ready()) GTEST_SKIP() << "mounting is not permitted here";
  const std::string path = folder / "history.db";
  auto store = open_store(path);
  ASSERT_NE(store, nullptr);
  int next = 0;
  for (; next < 3; ++next) ASSERT_OK(store->commit(tick(next)));

  for (int round = 0; round < 3; ++round) {
    disk.fill();
    Status refused = store->commit(tick(next));
    while (refused) refused = store->commit(tick(++next));
    EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
    EXPECT_TRUE(refused.error().is_transient());
    EXPECT_THAT(refused.error().message, HasSubstr("full"));
    EXPECT_THAT(refused.error().message, HasSubstr("free some space"));
    EXPECT_EQ(store->broken(), std::nullopt);
    EXPECT_EQ(whole_tick(*store), next - 1);
    EXPECT_FALSE(store->commit(tick(next))) << "still full";

    disk.make_room();
    ASSERT_OK(store->commit(tick(next)));
    EXPECT_EQ(whole_tick(*store), next);
    ++next;
  }
  store.reset();
  store = open_store(path);
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(whole_tick(*store), next - 1);
}

TEST(StoreCrashTest, AKillOnAFullDiskLosesNothing) {
  TempFolder folder;
  const SmallDisk disk(folder.path().string(), "size=4m");
  if (!disk.ready()) GTEST_SKIP() << "mounting is not permitted here";
  const std::string path = folder / "history.db";
  ChildProcess daemon([&](const ChildProcess::Tell& tell) {
    const auto store = SqliteStore::open(path);
    if (!store) return 1;
    for (int i = 0; (*store)->commit(tick(i)); ++i) tell();
    kill(getpid(), SIGKILL);
    return 2;
  });
  int heard = 0;
  while (daemon.hear()) ++heard;
  EXPECT_EQ(daemon.wait(), -1);
  ASSERT_GT(heard, 3);
  // No room to move the log into the file: what is in the log still counts.
  auto store = open_store(path);
  ASSERT_NE(store, nullptr);
  EXPECT_EQ(whole_tick(*store), heard - 1);
}

// What the store promises, in a few maps.
struct Model {
  std::map<std::string, SourceRow> sources;
  std::map<std::pair<std::string, std::int64_t>, BucketRow> buckets;
  std::map<AlertKey, AlertState> alerts;
  std::map<std::string, Episode> episodes;
  std::vector<OutboxRow> outbox;

  void commit(const TickRecord& record) {
    for (const auto& row : record.sources) sources[row.source] = row;
    for (const auto& row : record.buckets) buckets[{row.signal, unix_ms(row.start)}] = row;
    for (const auto& state : record.alerts) {
      if (state.phase == Phase::inactive && state.last_step == Timestamp{}) {
        alerts.erase(state.key);
      } else {
        alerts[state.key] = state;
      }
    }
    for (const auto& episode : record.episodes) episodes[episode.id] = episode;
    for (OutboxRow row : record.outbox) {
      row.id = static_cast<std::int64_t>(outbox.size()) + 1;
      outbox.push_back(row);
    }
  }
};

class RandomHistory {
 public:
  explicit RandomHistory(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_()) % n; }

  TickRecord record() {
    TickRecord record;
    for (std::size_t i = below(3); i > 0; --i) {
      record.sources.push_back({name("source", 2), time(), bytes(50)});
    }
    for (std::size_t i = below(6); i > 0; --i) {
      record.buckets.push_back({name("signal", 3), time(), below(2) == 0 ? Duration(60s) : 24h,
                                static_cast<std::uint8_t>(below(4)), bytes(100)});
    }
    for (std::size_t i = below(5); i > 0; --i) record.alerts.push_back(alert());
    for (std::size_t i = below(3); i > 0; --i) {
      Episode episode = episode_of(key(), static_cast<int>(below(40)));
      episode.sentence = bytes(30);
      if (below(2) == 0) episode.resolved_at = time();
      if (below(3) == 0) episode.facts = {{bytes(5), bytes(5)}};
      record.outbox.push_back(news_of(episode, name("receiver", 2), AlertStatus::firing));
      record.episodes.push_back(episode);
    }
    return record;
  }

  OutboxRow tried(OutboxRow row) {
    row.state = static_cast<OutboxState>(below(4));
    row.attempts += 1;
    row.next_attempt = time();
    row.settled_at = time();
    row.last_answer = bytes(20);
    return row;
  }

 private:
  std::string name(const std::string& stem, std::size_t count) {
    return stem + std::to_string(below(count));
  }
  Timestamp time() { return minute(static_cast<int>(below(100))); }
  std::string bytes(std::size_t most) {
    std::string text(below(most), '\0');
    for (char& c : text) c = static_cast<char>(random_());
    return text;
  }
  AlertKey key() {
    AlertKey key = key_of(name("rule", 2), name("model", 3));
    if (below(4) == 0) key.group.set("consumer", bytes(3));
    return key;
  }
  AlertState alert() {
    AlertState state = firing_alert(key(), static_cast<int>(below(50)));
    state.phase = static_cast<Phase>(below(3));
    if (below(4) == 0) {
      const AlertKey kept = state.key;
      state = {};
      state.key = kept;
    }
    return state;
  }

  std::mt19937 random_;
};

void expect_equal(SqliteStore& store, const Model& model) {
  const auto sources = value_of(store.sources());
  ASSERT_EQ(sources.size(), model.sources.size());
  for (const auto& row : sources) {
    EXPECT_EQ(row.watermark, model.sources.at(row.source).watermark);
    EXPECT_EQ(row.memory, model.sources.at(row.source).memory);
  }
  std::size_t buckets = 0;
  for (const std::string signal : {"signal0", "signal1", "signal2"}) {
    for (const auto& row : value_of(store.buckets(signal, {minute(0), minute(1000)}))) {
      ++buckets;
      const auto& expected = model.buckets.at({signal, unix_ms(row.start)});
      EXPECT_EQ(row.length, expected.length);
      EXPECT_EQ(row.coverage, expected.coverage);
      EXPECT_EQ(row.cells, expected.cells);
    }
  }
  EXPECT_EQ(buckets, model.buckets.size());
  std::vector<AlertState> alerts;
  for (const auto& [key, state] : model.alerts) alerts.push_back(state);
  EXPECT_THAT(value_of(store.alerts()), ::testing::UnorderedElementsAreArray(alerts));
  EXPECT_EQ(value_of(store.episodes({})).size(), model.episodes.size());
  std::size_t told = 0;
  for (const auto& [id, episode] : model.episodes) {
    EXPECT_EQ(value_of(store.episode(id)), episode);
    for (const auto& row : value_of(store.deliveries(id))) {
      ++told;
      EXPECT_EQ(shown(row), shown(model.outbox.at(static_cast<std::size_t>(row.id) - 1)));
    }
  }
  EXPECT_EQ(told, model.outbox.size());
  for (const std::string receiver : {"receiver0", "receiver1"}) {
    std::vector<std::int64_t> expected;
    for (const auto& row : model.outbox) {
      if (row.receiver == receiver && row.state == OutboxState::queued) expected.push_back(row.id);
    }
    std::vector<std::int64_t> found;
    for (const auto& row : value_of(store.queued(receiver))) found.push_back(row.id);
    EXPECT_EQ(found, expected);
  }
}

TEST(StoreModelTest, RandomHistoriesReadBackAsTheModelSays) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    TempFolder folder;
    const std::string path = folder / "history.db";
    RandomHistory history(seed);
    Model model;
    auto store = open_store(path);
    ASSERT_NE(store, nullptr);
    for (int step = 0; step < 60; ++step) {
      const TickRecord record = history.record();
      ASSERT_OK(store->commit(record));
      model.commit(record);
      if (!model.outbox.empty()) {
        OutboxRow& row = model.outbox[history.below(model.outbox.size())];
        row = history.tried(row);
        ASSERT_OK(store->settle({row}));
      }
      if (history.below(10) == 0) {
        store.reset();
        store = open_store(path);
        ASSERT_NE(store, nullptr);
      }
    }
    expect_equal(*store, model);
    store.reset();
    store = open_store(path);
    ASSERT_NE(store, nullptr);
    expect_equal(*store, model);
    if (::testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace outcomed::testing
