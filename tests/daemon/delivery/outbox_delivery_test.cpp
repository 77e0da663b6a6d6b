#include "daemon/delivery/outbox_delivery.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <stdexcept>

#include "alerts/render.h"
#include "daemon/storage/sqlite_store.h"
#include "tests/support/temp_folder.h"

namespace outcomed {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Timestamp kNoon = from_unix_ms(1'796'040'000'000);

// Answers what the test scripts, and remembers what it was told.
class Hook final : public Receiver {
 public:
  SendResult send(const Message& message) override {
    told.push_back(message);
    if (on_send) on_send();
    if (answers.empty()) return {SendResult::Outcome::delivered, std::nullopt, "HTTP 200"};
    SendResult answer = answers.front();
    answers.pop_front();
    return answer;
  }
  std::deque<SendResult> answers;
  std::vector<Message> told;
  std::function<void()> on_send;
};

class OutboxDeliveryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = SqliteStore::open(folder_ / "history.db");
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = *std::move(opened);
    restart();
  }
  void restart() {
    delivery_ = std::make_unique<OutboxDelivery>(
        "hook", hook_, *store_, RetryPolicy{},
        OutboxDelivery::Hooks{[this] { return now_; }, [] { return 0.5; },
                              [this](const DeliveryReport& r) { reports_.push_back(r); }});
  }
  void queue(const std::string& model, AlertStatus status, const std::string& group = "g") {
    OutboxRow row;
    row.receiver = "hook";
    row.key = {"model_failures", "page", {{"model", model}}};
    row.episode = "e-" + model;
    row.status = status;
    AlertMessage alert;
    alert.status = status;
    alert.labels = {{"alertname", "model_failures"}, {"model", model}};
    alert.episode = row.episode;
    row.message = make_message({"hook", {}, group}, {alert}, "");
    row.created_at = now_;
    row.next_attempt = now_;
    TickRecord record;
    record.outbox.push_back(row);
    ASSERT_TRUE(store_->commit(record));
  }
  std::optional<Timestamp> round() {
    auto next = delivery_->round();
    EXPECT_TRUE(next) << next.error().message;
    return next ? *next : std::nullopt;
  }

  testing::TempFolder folder_;
  std::unique_ptr<SqliteStore> store_;
  Hook hook_;
  Timestamp now_ = kNoon;
  std::vector<DeliveryReport> reports_;
  std::unique_ptr<OutboxDelivery> delivery_;
};

TEST_F(OutboxDeliveryTest, TellsTheAlertsOfOneGroupInOneMessageAndEachGroupByItself) {
  queue("a", AlertStatus::firing, "g1");
  queue("b", AlertStatus::firing, "g1");
  queue("c", AlertStatus::firing, "g2");
  EXPECT_EQ(round(), std::nullopt);
  ASSERT_EQ(hook_.told.size(), 2U);
  EXPECT_EQ(hook_.told[0].alerts.size(), 2U);
  EXPECT_EQ(hook_.told[1].alerts.size(), 1U);
  EXPECT_TRUE(store_->queued("hook")->empty());
}

TEST_F(OutboxDeliveryTest, RepeatsAFailedMessageUnderTheSameKeyAndWithTheSameAlerts) {  // E3, P2
  hook_.answers = {{SendResult::Outcome::retry, std::nullopt, "HTTP 503"}};
  queue("a", AlertStatus::firing);
  queue("b", AlertStatus::firing);
  const auto next = round();
  ASSERT_TRUE(next);
  queue("c", AlertStatus::firing);  // Comes meanwhile: it must not change the message under repair.
  now_ = *next;
  round();
  ASSERT_EQ(hook_.told.size(), 3U);
  std::map<std::string, std::size_t> alerts_by_key;
  for (const Message& message : hook_.told) {
    const auto [known, fresh] =
        alerts_by_key.try_emplace(message.idempotency_key, message.alerts.size());
    EXPECT_EQ(known->second, message.alerts.size());
  }
  EXPECT_EQ(alerts_by_key.size(), 2U);
}

TEST_F(OutboxDeliveryTest, WaitsAsLongAsTheOtherSideAsksAndDeliversOnce) {  // E1
  hook_.answers = {{SendResult::Outcome::retry, Duration(seconds(120)), "HTTP 429"}};
  queue("a", AlertStatus::firing);
  const auto next = round();
  ASSERT_TRUE(next);
  EXPECT_GE(*next, now_ + seconds(120));
  now_ += seconds(119);
  round();
  EXPECT_EQ(hook_.told.size(), 1U);
  now_ = *next;
  round();
  EXPECT_EQ(hook_.told.size(), 2U);
  EXPECT_TRUE(store_->queued("hook")->empty());
}

TEST_F(OutboxDeliveryTest, AFailureThatAsksForNoWaitHoldsBackNoOtherMessage) {
  hook_.answers = {{SendResult::Outcome::retry, std::nullopt, "HTTP 503"}};
  queue("a", AlertStatus::firing, "g1");
  queue("b", AlertStatus::firing, "g2");
  round();
  EXPECT_EQ(hook_.told.size(), 2U);
  EXPECT_EQ(store_->deliveries("e-b")->front().state, OutboxState::delivered);
}

TEST_F(OutboxDeliveryTest, AWaitThatWasAskedForOutlastsNoClockThatIsSetBack) {
  hook_.answers = {{SendResult::Outcome::retry, Duration(std::chrono::hours(5)), "HTTP 429"}};
  queue("a", AlertStatus::firing);
  EXPECT_EQ(round(), kNoon + std::chrono::hours(1)) << "at most an hour";
  now_ -= std::chrono::hours(24);
  const auto next = round();
  ASSERT_TRUE(next);
  EXPECT_LE(*next - now_, std::chrono::hours(1));
}

TEST_F(OutboxDeliveryTest, SaysHowManyStillWait) {
  hook_.answers = {{SendResult::Outcome::retry, std::nullopt, "HTTP 503"}};
  queue("a", AlertStatus::firing, "g1");
  queue("b", AlertStatus::firing, "g2");
  const auto next = round();
  now_ = *next;
  round();
  ASSERT_EQ(reports_.size(), 3U);
  EXPECT_EQ(reports_[0].waiting, 2U);
  EXPECT_EQ(reports_[1].waiting, 1U) << "b is told, a is not";
  EXPECT_EQ(reports_[2].waiting, 0U);
}

TEST_F(OutboxDeliveryTest, LosesUntilSomethingIsDelivered) {
  hook_.answers = {{SendResult::Outcome::rejected, std::nullopt, "HTTP 401"}};
  queue("a", AlertStatus::firing);
  round();
  EXPECT_TRUE(delivery_->losing());
  hook_.answers = {{SendResult::Outcome::retry, std::nullopt, "HTTP 503"}};
  queue("b", AlertStatus::firing);
  const auto next = round();
  EXPECT_TRUE(delivery_->losing());
  now_ = *next;
  round();
  EXPECT_FALSE(delivery_->losing());
}

TEST_F(OutboxDeliveryTest, SendsAResolveOnlyAfterTheFiringWasDelivered) {  // E6, P3
  hook_.answers = {{SendResult::Outcome::retry, std::nullopt, "timeout"}};
  queue("a", AlertStatus::firing);
  const auto next = round();  // It may have been heard.
  queue("a", AlertStatus::resolved);
  round();
  EXPECT_EQ(hook_.told.size(), 1U) << "the resolve waits behind the firing";
  now_ = *next;
  round();
  ASSERT_EQ(hook_.told.size(), 3U);
  EXPECT_EQ(hook_.told[1].alerts[0].status, AlertStatus::firing);
  EXPECT_EQ(hook_.told[2].alerts[0].status, AlertStatus::resolved);
}

TEST_F(OutboxDeliveryTest, TellsNobodyOfWhatWasOverBeforeTheFirstAttempt) {  // F27
  queue("a", AlertStatus::firing);
  queue("a", AlertStatus::resolved);
  EXPECT_EQ(round(), std::nullopt);
  EXPECT_TRUE(hook_.told.empty());
  const auto rows = *store_->deliveries("e-a");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].state, OutboxState::superseded) << "history says so";
}

TEST_F(OutboxDeliveryTest, WritesTheAttemptDownBeforeItIsMade) {
  queue("a", AlertStatus::firing);
  int attempts_on_record = 0;
  hook_.on_send = [&] { attempts_on_record = store_->queued("hook")->front().attempts; };
  round();
  EXPECT_EQ(attempts_on_record, 1);
}

TEST_F(OutboxDeliveryTest, ACrashBetweenSendingAndSettlingRepeatsTheSameKeyOnce) {
  queue("a", AlertStatus::firing);
  queue("b", AlertStatus::firing);
  hook_.on_send = [] { throw std::runtime_error("the process ends here"); };
  EXPECT_THROW((void)delivery_->round(), std::runtime_error);
  hook_.on_send = nullptr;
  restart();
  const auto next = round();
  ASSERT_TRUE(next) << "not at once: the attempt may still be under way";
  queue("c", AlertStatus::firing);
  now_ = *next;
  round();
  ASSERT_EQ(hook_.told.size(), 3U);
  EXPECT_EQ(hook_.told[0].idempotency_key, hook_.told[1].alerts.size() == 2
                                               ? hook_.told[1].idempotency_key
                                               : hook_.told[2].idempotency_key);
}

TEST_F(OutboxDeliveryTest, GivesUpOnARejectionAndGoesOnWithTheNext) {
  hook_.answers = {{SendResult::Outcome::rejected, std::nullopt, "HTTP 400"}};
  queue("a", AlertStatus::firing, "g1");
  queue("b", AlertStatus::firing, "g2");
  EXPECT_EQ(round(), std::nullopt);
  ASSERT_EQ(reports_.size(), 2U);
  ASSERT_EQ(reports_[0].dead.size(), 1U);
  EXPECT_EQ(reports_[0].dead[0].episode, "e-a");
  EXPECT_EQ(reports_[0].dead[0].alert, R"({alertname="model_failures", model="a"})");
  EXPECT_TRUE(reports_[1].dead.empty());
  EXPECT_EQ(store_->deliveries("e-a")->front().state, OutboxState::dead);
  EXPECT_EQ(store_->deliveries("e-b")->front().state, OutboxState::delivered);
}

TEST_F(OutboxDeliveryTest, DoesNotResolveWhatWasNeverHeardOf) {  // E6
  hook_.answers = {{SendResult::Outcome::rejected, std::nullopt, "HTTP 400"}};
  queue("a", AlertStatus::firing);
  round();
  queue("a", AlertStatus::resolved);
  EXPECT_EQ(round(), std::nullopt);
  EXPECT_EQ(hook_.told.size(), 1U);
}

TEST_F(OutboxDeliveryTest, IsNotParkedByAClockThatWasSetBack) {
  hook_.answers = {{SendResult::Outcome::retry, std::nullopt, "HTTP 503"}};
  queue("a", AlertStatus::firing);
  round();
  now_ -= std::chrono::hours(24 * 365);
  const auto next = round();
  ASSERT_TRUE(next);
  EXPECT_LE(*next - now_, std::chrono::hours(1));
}

TEST_F(OutboxDeliveryTest, DeliversEverythingAfterHoursOfOutageWithoutAStorm) {  // F27, E2
  for (int i = 0; i < 400; ++i) {
    hook_.answers.push_back({SendResult::Outcome::retry, std::nullopt, "connection refused"});
  }
  queue("a", AlertStatus::firing);
  const Timestamp begin = now_;
  while (now_ < begin + std::chrono::hours(8)) {
    const auto next = round();
    ASSERT_TRUE(next);
    now_ = *next;
  }
  EXPECT_LT(hook_.told.size(), 250U) << "backoff is capped, not absent";
  EXPECT_GT(hook_.told.size(), 90U) << "and not longer than its cap";
  hook_.answers.clear();
  round();
  EXPECT_TRUE(store_->queued("hook")->empty());
}

}  // namespace
}  // namespace outcomed
