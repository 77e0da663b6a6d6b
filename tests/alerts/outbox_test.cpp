#include "alerts/outbox.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace outcomed {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Outcome = SendResult::Outcome;

constexpr Timestamp kNow = from_unix_ms(1'796'000'000'000);

SendResult answer(Outcome outcome, std::string detail = "x") {
  SendResult result;
  result.outcome = outcome;
  result.detail = std::move(detail);
  return result;
}

SendResult throttled(std::optional<Duration> retry_after = {}) {
  SendResult result = answer(Outcome::retry, "HTTP 429");
  result.throttled = true;
  result.retry_after = retry_after;
  return result;
}

OutboxRow row(std::int64_t id, std::string rule, AlertStatus status, std::string episode,
              int attempts = 0) {
  OutboxRow made;
  made.id = id;
  made.receiver = "hooks";
  made.key.rule = std::move(rule);
  made.status = status;
  made.episode = std::move(episode);
  made.attempts = attempts;
  made.created_at = kNow;
  made.next_attempt = kNow;
  return made;
}

OutboxRow firing(std::int64_t id, std::string episode = "e", int attempts = 0) {
  return row(id, "r", AlertStatus::firing, std::move(episode), attempts);
}
OutboxRow resolved(std::int64_t id, std::string episode = "e", int attempts = 0) {
  return row(id, "r", AlertStatus::resolved, std::move(episode), attempts);
}

std::vector<std::int64_t> ids_of(const std::vector<OutboxRow>& rows) {
  std::vector<std::int64_t> ids;
  for (const OutboxRow& r : rows) ids.push_back(r.id);
  return ids;
}

TEST(AfterAttempt, AnAcceptedRowIsDelivered) {
  const OutboxRow after =
      after_attempt(firing(1), answer(Outcome::delivered, "HTTP 202"), kNow, 0.5, {});
  EXPECT_EQ(after.state, OutboxState::delivered);
  EXPECT_EQ(after.settled_at, kNow);
  EXPECT_EQ(after.attempts, 1);
  EXPECT_EQ(after.last_answer, "HTTP 202");
}

TEST(AfterAttempt, ARejectedRowIsDeadAtOnceAndSaysWhy) {
  const OutboxRow after =
      after_attempt(firing(1), answer(Outcome::rejected, "HTTP 404"), kNow, 0, {});
  EXPECT_EQ(after.state, OutboxState::dead);
  EXPECT_EQ(after.settled_at, kNow);
  EXPECT_EQ(after.last_answer, "HTTP 404");
}

TEST(AfterAttempt, AFailedRowStaysQueuedAndNothingElseOfItChanges) {
  OutboxRow before = firing(7);
  before.message.idempotency_key = "k";
  const OutboxRow after = after_attempt(before, answer(Outcome::retry, "timed out"), kNow, 0, {});
  EXPECT_EQ(after.state, OutboxState::queued);
  EXPECT_EQ(after.settled_at, Timestamp{});
  EXPECT_EQ(after.id, 7);
  EXPECT_EQ(after.message.idempotency_key, "k");
  EXPECT_EQ(after.created_at, before.created_at);
  EXPECT_EQ(after.last_answer, "timed out");
}

TEST(AfterAttempt, TheWaitDoublesFromOneSecondToFiveMinutes) {
  OutboxRow r = firing(1);
  Timestamp now = kNow;
  std::vector<std::int64_t> seconds;
  for (int i = 0; i < 12; ++i) {
    r = after_attempt(r, answer(Outcome::retry), now, 0, {});  // Jitter 0: half of the delay.
    seconds.push_back((r.next_attempt - now).count() / 500);
    now = r.next_attempt;
  }
  EXPECT_THAT(seconds, ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300));
}

TEST(AfterAttempt, TheWaitIsBetweenHalfAndTheWholeDelayForEveryJitter) {
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    RetryPolicy policy;
    policy.first = Duration(1 + random() % 10'000);
    policy.cap = policy.first + Duration(random() % 1'000'000);
    OutboxRow r = firing(1);
    r.attempts = static_cast<int>(random() % 70);
    const double jitter = std::uniform_real_distribution<double>(0, 1)(random);
    // The documented delay, by another way: doubling in floating point cannot overflow.
    const double whole = std::min(static_cast<double>(policy.first.count()) * std::exp2(r.attempts),
                                  static_cast<double>(policy.cap.count()));
    const auto wait = static_cast<double>(
        (after_attempt(r, answer(Outcome::retry), kNow, jitter, policy).next_attempt - kNow)
            .count());
    EXPECT_GE(wait, whole / 2 - 1);
    EXPECT_LE(wait, whole);
    EXPECT_NEAR(wait, whole / 2 * (1 + jitter), 1.5);
  }
}

TEST(AfterAttempt, AbsurdAttemptsAndJitterAreHarmless) {
  OutboxRow r = firing(1);
  r.attempts = 2'000'000'000;
  const RetryPolicy policy;
  for (const double jitter : {-1.0, 2.0, 1e300, -1e300, std::nan("")}) {
    const Duration wait =
        after_attempt(r, answer(Outcome::retry), kNow, jitter, policy).next_attempt - kNow;
    EXPECT_GE(wait, policy.cap / 2);
    EXPECT_LE(wait, policy.cap);
  }
}

TEST(AfterAttempt, RetryAfterWinsWhenItIsLongerAndIsCapped) {
  const auto wait = [](std::optional<Duration> asked, int attempts) {
    OutboxRow r = firing(1);
    r.attempts = attempts;
    return after_attempt(r, throttled(asked), kNow, 0, {}).next_attempt - kNow;
  };
  EXPECT_EQ(wait(2s, 0), Duration(2s));             // Longer than 0.5 s.
  EXPECT_EQ(wait(Duration(1), 9), Duration(150s));  // Shorter than 150 s.
  EXPECT_EQ(wait(0s, 0), Duration(500));
  EXPECT_EQ(wait({}, 0), Duration(500));
  EXPECT_EQ(wait(-5s, 0), Duration(500));
  EXPECT_EQ(wait(24h, 0), Duration(1h));
  SendResult unavailable = answer(Outcome::retry, "HTTP 503");
  unavailable.retry_after = 90s;
  EXPECT_EQ(after_attempt(firing(1), unavailable, kNow, 0, {}).next_attempt - kNow, Duration(90s));
}

TEST(AfterAttempt, ARowOlderThanTheLimitDiesUnlessTheReceiverOnlyThrottles) {
  const Timestamp at_limit = kNow + RetryPolicy{}.give_up_after;
  const auto state_at = [](Timestamp now, const SendResult& result) {
    return after_attempt(firing(1), result, now, 0.5, {}).state;
  };
  EXPECT_EQ(state_at(at_limit, answer(Outcome::retry)), OutboxState::queued);
  EXPECT_EQ(state_at(at_limit + Duration(1), answer(Outcome::retry)), OutboxState::dead);
  EXPECT_EQ(state_at(at_limit + 24h * 365, throttled()), OutboxState::queued);
  EXPECT_EQ(state_at(at_limit + 24h * 365, throttled(30s)), OutboxState::queued);
  EXPECT_EQ(state_at(at_limit + 24h, answer(Outcome::delivered)), OutboxState::delivered);
  EXPECT_EQ(state_at(kNow - 24h, answer(Outcome::retry)), OutboxState::queued);  // Clock set back.
}

TEST(AfterAttempt, AReceiverThatIsDownForEightHoursIsAskedAboutAHundredTimesAndGetsEverything) {
  OutboxRow r = firing(1);
  Timestamp now = kNow;
  int attempts = 0;
  while (now - kNow < 8h) {
    r = after_attempt(r, answer(Outcome::retry, "connection refused"), now, 0.5, {});
    ASSERT_EQ(r.state, OutboxState::queued);
    now = r.next_attempt;
    ++attempts;
  }
  EXPECT_LT(attempts, 150);  // Alertmanager#2286 counts 200 in ten minutes.
  r = after_attempt(r, answer(Outcome::delivered), now, 0.5, {});
  EXPECT_EQ(r.state, OutboxState::delivered);
  EXPECT_LE(now - kNow, 8h + RetryPolicy{}.cap);
}

TEST(Superseded, AFiringNobodyHeardGoesAwayWithItsResolve) {
  EXPECT_THAT(superseded({firing(1), resolved(2)}), ElementsAre(1, 2));
}

TEST(Superseded, AFiringThatMayHaveBeenHeardStaysAndSoDoesItsResolve) {
  EXPECT_THAT(superseded({firing(1, "e", 1), resolved(2)}), IsEmpty());
}

TEST(Superseded, AloneNeitherGoesAway) {
  EXPECT_THAT(superseded({}), IsEmpty());
  EXPECT_THAT(superseded({firing(1)}), IsEmpty());
  EXPECT_THAT(superseded({resolved(1)}), IsEmpty());  // Its firing was delivered before.
  EXPECT_THAT(superseded({resolved(1), firing(2)}), IsEmpty());
}

TEST(Superseded, OnlyWholeEpisodesOfOneReceiverAndAlertAreTakenTogether) {
  OutboxRow other_receiver = resolved(2);
  other_receiver.receiver = "oncall";
  EXPECT_THAT(superseded({firing(1), other_receiver}), IsEmpty());
  EXPECT_THAT(superseded({firing(1), row(2, "q", AlertStatus::resolved, "e")}), IsEmpty());
  EXPECT_THAT(superseded({firing(1, "e1"), resolved(2, "e2")}), IsEmpty());
  // Down for long: old episodes go, the last state is told (A11, F27).
  EXPECT_THAT(superseded({firing(1, "e1"), resolved(2, "e1"), firing(3, "e2"), resolved(4, "e2"),
                          firing(5, "e3")}),
              ElementsAre(1, 2, 3, 4));
  // The first episode was heard: its resolve must come before the last firing.
  EXPECT_THAT(superseded({firing(1, "e1", 3), resolved(2, "e1"), firing(3, "e2"), resolved(4, "e2"),
                          firing(5, "e3")}),
              ElementsAre(3, 4));
}

TEST(Superseded, SettledRowsCountForNothing) {
  OutboxRow delivered = firing(1);
  delivered.state = OutboxState::delivered;
  EXPECT_THAT(superseded({delivered, resolved(2)}), IsEmpty());
}

TEST(Due, TheFirstQueuedRowOfAnAlertHoldsBackTheOthers) {
  OutboxRow waiting = firing(1);
  waiting.next_attempt = kNow + 1s;
  EXPECT_THAT(ids_of(due({waiting, resolved(2)}, kNow)), IsEmpty());
  EXPECT_THAT(ids_of(due({waiting, resolved(2)}, kNow + 1s)), ElementsAre(1));
  EXPECT_THAT(
      ids_of(due({firing(1), resolved(2), row(3, "other", AlertStatus::firing, "e")}, kNow)),
      ElementsAre(1, 3));
}

TEST(Due, SettledRowsHoldNobodyBack) {
  OutboxRow dead = firing(1);
  dead.state = OutboxState::dead;
  EXPECT_THAT(ids_of(due({dead, resolved(2)}, kNow)), ElementsAre(2));
}

TEST(Due, ReceiversDoNotWaitForOneAnother) {
  OutboxRow waiting = firing(1);
  waiting.next_attempt = kNow + 1h;
  OutboxRow other = firing(2);
  other.receiver = "oncall";
  EXPECT_THAT(ids_of(due({waiting, other}, kNow)), ElementsAre(2));
}

// A world of random alerts, receivers that fail at random, and a queue that lives by the functions
// under test. What the receivers heard must tell the truth.
class OutboxWorld {
 public:
  explicit OutboxWorld(unsigned seed) : random_(seed) {}

  void run(int ticks) {
    for (int tick = 0; tick < ticks; ++tick) {
      now_ += 1s;
      change_alerts();
      supersede();
      deliver(0.6);
    }
    for (int tick = 0; tick < 2000 && !queue_.empty(); ++tick) {  // Receivers are well again.
      now_ += 1s;
      supersede();
      deliver(0);
    }
  }
  void check() const {
    EXPECT_TRUE(queue_.empty());
    for (const auto& [alert, heard] : heard_) {
      std::map<std::string, std::vector<AlertStatus>> episodes;
      std::string open;
      for (const auto& [episode, status] : heard) {
        // Repeats are allowed only as repeats: the same news twice in a row.
        auto& news = episodes[episode];
        if (!news.empty() && news.back() == status) continue;
        news.push_back(status);
        if (status == AlertStatus::firing) {
          EXPECT_EQ(open, "") << "a firing before the resolve of the one before";
          open = episode;
        } else {
          EXPECT_EQ(open, episode) << "a resolve without its firing";
          open = "";
        }
        EXPECT_LE(news.size(), 2U) << "a trigger after its resolve";
      }
      // At the end the receiver believes what is true now.
      const auto now_open = open_.find(alert.second);
      EXPECT_EQ(open, now_open == open_.end() ? "" : now_open->second);
    }
  }
  [[nodiscard]] int superseded_count() const { return superseded_; }

 private:
  static constexpr std::array<const char*, 2> kReceivers = {"hooks", "oncall"};

  void change_alerts() {
    for (const std::string rule : {"a", "b", "c"}) {
      if (random_() % 10 != 0) continue;
      const auto at = open_.find(rule);
      const bool fire = at == open_.end();
      const std::string episode = fire ? fmt::format("{}-{}", rule, ++episodes_) : at->second;
      for (const char* receiver : kReceivers) {
        OutboxRow news =
            row(++last_id_, rule, fire ? AlertStatus::firing : AlertStatus::resolved, episode);
        news.receiver = receiver;
        news.created_at = news.next_attempt = now_;
        queue_.push_back(news);
      }
      if (fire) {
        open_[rule] = episode;
      } else {
        open_.erase(at);
      }
    }
  }
  void supersede() {
    const auto ids = superseded(queue_);
    EXPECT_TRUE(std::ranges::is_sorted(ids));
    superseded_ += static_cast<int>(ids.size());
    std::erase_if(queue_, [&](const OutboxRow& r) {
      if (!std::ranges::binary_search(ids, r.id)) return false;
      EXPECT_EQ(r.attempts, 0);
      return true;
    });
  }
  void deliver(double failing) {
    for (const OutboxRow& r : due(queue_, now_)) {
      EXPECT_LE(r.next_attempt, now_);
      const bool fails = std::bernoulli_distribution(failing)(random_);
      const bool lost_reply = fails && random_() % 3 == 0;  // Heard, but we don't know it (F32).
      if (!fails || lost_reply) heard_[{r.receiver, r.key.rule}].emplace_back(r.episode, r.status);
      const OutboxRow after =
          after_attempt(r, answer(fails ? Outcome::retry : Outcome::delivered), now_, 0.5, {});
      const auto at = std::ranges::find(queue_, r.id, &OutboxRow::id);
      if (after.state == OutboxState::queued) {
        *at = after;
      } else {
        queue_.erase(at);
      }
    }
  }

  std::mt19937 random_;
  Timestamp now_ = kNow;
  std::int64_t last_id_ = 0;
  int episodes_ = 0;
  int superseded_ = 0;
  std::map<std::string, std::string> open_;  // Rule -> episode that fires now.
  std::vector<OutboxRow> queue_;
  std::map<std::pair<std::string, std::string>, std::vector<std::pair<std::string, AlertStatus>>>
      heard_;
};

TEST(Outbox, WhateverFailsEveryReceiverHearsEachAlertInOrderAndEndsWithTheTruth) {
  int superseded_rows = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    OutboxWorld world(seed);
    world.run(200);
    world.check();
    superseded_rows += world.superseded_count();
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(superseded_rows, 1000);
}

}  // namespace
}  // namespace outcomed
