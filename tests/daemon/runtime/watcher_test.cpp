#include "daemon/runtime/watcher.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <fstream>
#include <thread>

#include "daemon/engine/null_store.h"
#include "daemon/net/curl_client.h"
#include "daemon/net/secret_reader.h"
#include "daemon/plugins.h"
#include "tests/daemon/runtime/silent_observer.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_folder.h"

namespace outcomed {
namespace {

constexpr std::int64_t kStart = 1'796'040'000'000;

class Ticks final : public testing::SilentObserver {
 public:
  void ticked(const TickReport&, const TickTiming& timing, const Engine&) override {
    const std::lock_guard lock(mutex_);
    ++count_;
    missed_ += timing.missed;
    changed_.notify_all();
  }
  void incomplete(const std::string& source, const std::string& gaps) override {
    gaps_ += source + ": " + gaps;
  }

  // False: not yet, within a moment.
  bool reach(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(20), [&] { return count_ >= count; });
  }
  const std::string& gaps() const { return gaps_; }
  std::uint64_t missed() {
    const std::lock_guard lock(mutex_);
    return missed_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
  std::string gaps_;
  std::uint64_t missed_ = 0;
};

class WatcherTest : public ::testing::Test {
 protected:
  // One evaluator whose items are counted once a day.
  LoadedConfig config_of_days() {
    std::ofstream(folder_ / "days.csv") << "signal,start,seconds,n,k\n"
                                           "pass,2026-11-29T00:00:00Z,86400,100,90\n";
    std::ofstream(folder_ / "outcomed.yaml") << R"(
sources: {rec: {kind: recording, path: days.csv}}
signals: {pass: {source: rec, step: 1d}}
rules: [{name: low, kind: share, signal: pass, below: 50%, window: 1d}]
store: {sqlite: history.sqlite}
)";
    return load_config(folder_ / "outcomed.yaml", catalogs());
  }

  testing::TempFolder folder_;
  testing::FakeClock clock_{from_unix_ms(kStart)};
  NullStore store_;
  Ticks ticks_;
  FileSecretReader secrets_{[](const std::string&) { return std::nullopt; }};
  CurlClient http_{secrets_};
  Watcher watcher_{{http_, http_, secrets_, store_, clock_, [] { return 0.5; }, ticks_}};
};

TEST_F(WatcherTest, HoweverLongTheStepsAreItLooksUpEveryMinute) {
  LoadedConfig loaded = config_of_days();
  ASSERT_TRUE(loaded.ok()) << to_text(loaded.problems);
  ASSERT_TRUE(watcher_.load(std::move(loaded)));
  std::stop_source stop;
  std::jthread daemon([&] {
    watcher_.run(
        stop.get_token(), [] {}, [] {});
  });
  while (!ticks_.reach(4)) {
    clock_.advance(std::chrono::minutes(1));
    watcher_.wake();
  }
  EXPECT_LT(clock_.now(), from_unix_ms(kStart) + std::chrono::hours(12));
  EXPECT_EQ(ticks_.missed(), 0U);
  stop.request_stop();
  watcher_.wake();
}

TEST_F(WatcherTest, ASingleRoundSaysWhatItCouldNotJudge) {
  LoadedConfig loaded = config_of_days();
  ASSERT_TRUE(watcher_.load(std::move(loaded)));
  clock_.advance(std::chrono::hours(48));
  EXPECT_TRUE(watcher_.run_once());
  EXPECT_NE(ticks_.gaps().find("rec: "), std::string::npos) << ticks_.gaps();
  EXPECT_NE(ticks_.gaps().find("have no complete data"), std::string::npos) << ticks_.gaps();
}

}  // namespace
}  // namespace outcomed
