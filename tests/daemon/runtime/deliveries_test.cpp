#include "daemon/runtime/deliveries.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "daemon/storage/sqlite_store.h"
#include "tests/daemon/runtime/silent_observer.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_folder.h"

namespace outcomed {
namespace {

using std::chrono::seconds;
using testing::SilentObserver;
using Outcome = SendResult::Outcome;

// Tests wait for what must happen; this is only how long a broken one takes to fail.
constexpr Duration kPatience = seconds(20);

// A server that can be made to hang until it is let go.
class Peer final : public Mirror {
 public:
  SendResult push(const std::vector<AlertMessage>&, Timestamp) override {
    std::unique_lock lock(mutex_);
    ++pushes_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !hangs_; });
    return {Outcome::delivered, std::nullopt, "HTTP 200"};
  }
  [[nodiscard]] std::string peer() const override { return "peer"; }
  [[nodiscard]] Duration resend_interval() const override { return std::chrono::hours(1); }

  void hang(bool hangs) {
    const std::lock_guard lock(mutex_);
    hangs_ = hangs;
    changed_.notify_all();
  }
  bool wait_for_pushes(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return pushes_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool hangs_ = false;
  int pushes_ = 0;
};

// Counts the rounds that are over.
class Rounds final : public SilentObserver {
 public:
  void mirrored(const std::string&, const MirrorDelivery::Round&) override {
    const std::lock_guard lock(mutex_);
    ++over_;
    changed_.notify_all();
  }
  bool wait_for(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return over_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int over_ = 0;
};

// Answers as it is told to.
class Hook final : public Receiver {
 public:
  SendResult send(const Message&) override { return {outcome, std::nullopt, "answer"}; }
  Outcome outcome = Outcome::delivered;
};

class DeliveriesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = SqliteStore::open(folder_ / "history.db");
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = *std::move(opened);
    assembly_.announcer = std::make_shared<const Announcer>(Route{}, std::vector<QueuedPart>{},
                                                            std::map<std::string, Labels>{}, "");
  }
  std::unique_ptr<Deliveries> deliveries() {
    return std::make_unique<Deliveries>(
        assembly_, *store_, clock_, [] { return 0.5; }, rounds_);
  }

  void queue(const std::string& outbox, const std::string& episode) {
    OutboxRow row;
    row.receiver = outbox;
    row.key = {"model_failures", "page", {{"model", episode}}};
    row.episode = episode;
    row.created_at = row.next_attempt = clock_.now();
    TickRecord record;
    record.outbox.push_back(row);
    ASSERT_TRUE(store_->commit(record));
  }

  testing::TempFolder folder_;
  std::unique_ptr<SqliteStore> store_;
  testing::FakeClock clock_{from_unix_ms(1'796'040'000'000)};
  Rounds rounds_;
  Assembly assembly_;
};

TEST_F(DeliveriesTest, NewsReachesAPeerWhileAnotherHangs) {
  const auto hanging = std::make_shared<Peer>();
  const auto healthy = std::make_shared<Peer>();
  assembly_.mirrors = {{"oncall", hanging}, {"oncall", healthy}};
  hanging->hang(true);
  const auto running = deliveries();
  running->start();
  EXPECT_TRUE(hanging->wait_for_pushes(1));
  for (int round = 1; round <= 3; ++round) {
    EXPECT_TRUE(healthy->wait_for_pushes(round));
    running->wake();
  }
  hanging->hang(false);
  EXPECT_TRUE(hanging->wait_for_pushes(2)) << "what it missed is told as soon as it answers";
  running->stop();
}

TEST_F(DeliveriesTest, OneRoundOfAllPeersRunsSideBySide) {
  const auto hanging = std::make_shared<Peer>();
  const auto healthy = std::make_shared<Peer>();
  assembly_.mirrors = {{"oncall", hanging}, {"oncall", healthy}};
  hanging->hang(true);
  const auto running = deliveries();
  bool all = false;
  std::jthread once([&] { all = running->run_once(); });
  EXPECT_TRUE(rounds_.wait_for(1)) << "the healthy one is through";
  hanging->hang(false);
  once.join();
  EXPECT_TRUE(all);
  EXPECT_TRUE(rounds_.wait_for(2));
}

// The heartbeat goes on only while pages arrive.
TEST_F(DeliveriesTest, APageThatWasThrownAwayIsNotToldUntilALaterOneIs) {
  const auto hook = std::make_shared<Hook>();
  assembly_.queued = {{"hook", hook}};
  const auto all = deliveries();
  EXPECT_TRUE(all->run_once());
  hook->outcome = Outcome::rejected;
  queue("hook", "e-1");
  EXPECT_FALSE(all->run_once());
  EXPECT_FALSE(all->all_told());
  EXPECT_FALSE(all->run_once()) << "though the queue is empty";
  hook->outcome = Outcome::delivered;
  queue("hook", "e-2");
  EXPECT_TRUE(all->run_once());
  EXPECT_TRUE(all->all_told());
}

}  // namespace
}  // namespace outcomed
