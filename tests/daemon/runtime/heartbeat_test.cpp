#include "daemon/runtime/heartbeat.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "tests/daemon/runtime/silent_observer.h"
#include "tests/support/fake_clock.h"

namespace outcomed {
namespace {

using std::chrono::seconds;

// Answers as told and remembers who was asked.
class Outside final : public HttpClient {
 public:
  Result<HttpResponse> send(const HttpRequest& request) override {
    const std::lock_guard lock(mutex_);
    asked_.push_back(request.url);
    changed_.notify_all();
    HttpResponse response;
    response.status = status_;
    return response;
  }
  void answer_with(int status) {
    const std::lock_guard lock(mutex_);
    status_ = status;
  }
  std::size_t wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, seconds(20), [&] { return asked_.size() >= count; });
    return asked_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> asked_;
  int status_ = 200;
};

class Results final : public testing::SilentObserver {
 public:
  void heartbeat(const Status& result) override {
    const std::lock_guard lock(mutex_);
    said_.push_back(result ? "" : result.error().message);
    changed_.notify_all();
  }
  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, seconds(20), [&] { return said_.size() >= count; });
    return said_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> said_;
};

class HeartbeatTest : public ::testing::Test {
 protected:
  HeartbeatConfig config() {
    HeartbeatConfig config;
    config.url = "http://outside.example/ping";
    config.every = seconds(60);
    return config;
  }
  testing::FakeClock clock_{from_unix_ms(1'796'040'000'000)};
  Outside outside_;
  Results results_;
};

TEST_F(HeartbeatTest, IsSilentUntilACycleWentWell) {
  { Heartbeat heartbeat(config(), outside_, clock_, results_); }
  EXPECT_EQ(outside_.wait_for(0), 0U);
}

TEST_F(HeartbeatTest, ComesAtMostOnceInItsInterval) {
  Heartbeat heartbeat(config(), outside_, clock_, results_);
  heartbeat.beat();
  ASSERT_EQ(results_.wait_for(1).size(), 1U);
  clock_.advance(seconds(30));
  heartbeat.beat();  // Too soon.
  clock_.advance(seconds(30));
  heartbeat.beat();
  ASSERT_EQ(results_.wait_for(2), (std::vector<std::string>{"", ""}));
  EXPECT_EQ(outside_.wait_for(2), 2U);
}

TEST_F(HeartbeatTest, SaysWhereItWasRefused) {
  outside_.answer_with(410);
  Heartbeat heartbeat(config(), outside_, clock_, results_);
  heartbeat.beat();
  EXPECT_EQ(results_.wait_for(1), (std::vector<std::string>{"HTTP 410"}));
}

}  // namespace
}  // namespace outcomed
