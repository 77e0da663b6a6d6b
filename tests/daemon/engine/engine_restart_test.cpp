// The engine over restarts, reloads and a store that fails.
#include <algorithm>

#include "tests/daemon/engine/engine_fixture.h"
#include "tests/support/failing_store.h"

namespace outcomed::testing {
namespace {

TEST_F(EngineTest, StaysFiringAcrossARestartAndTellsNobodyAgain) {  // A1, A8
  judge_minutes(kNoon - hours(1), 60, 0);
  judge_minutes(kNoon, 60, 7);
  start(kNoon, share_rule(minutes(5)));
  tick_each_minute(kNoon, 7);
  ASSERT_EQ(phase_of_judge(), Phase::firing);
  const Episode before = episodes().front();
  for (int i = 0; i < 3; ++i) {
    start(kNoon + minutes(7 + i), share_rule(minutes(5)));
    EXPECT_EQ(phase_of_judge(), Phase::firing) << "before the first tick (A5)";
    tick(kNoon + minutes(7 + i));
    EXPECT_EQ(phase_of_judge(), Phase::firing);
  }
  EXPECT_EQ(outbox().size(), 1U);
  ASSERT_EQ(episodes().size(), 1U);
  EXPECT_EQ(episodes().front(), before);
}

TEST_F(EngineTest, KeepsThePendingClockOverARestart) {  // P7, F22
  judge_minutes(kNoon - hours(1), 60, 0);
  judge_minutes(kNoon, 60, 7);
  start(kNoon, share_rule(minutes(10)));
  tick_each_minute(kNoon, 5);
  ASSERT_EQ(phase_of_judge(), Phase::pending);
  start(kNoon + minutes(8), share_rule(minutes(10)));
  tick_each_minute(kNoon + minutes(8), 5);
  ASSERT_EQ(episodes().size(), 1U);
  EXPECT_EQ(episodes().front().fired_at, kNoon + minutes(11));
}

TEST_F(EngineTest, ResolvesOnceWhatEndedWhileItWasDown) {  // F23
  judge_minutes(kNoon - hours(1), 60, 0);
  judge_minutes(kNoon, 10, 7);
  judge_minutes(kNoon + minutes(10), 120, 0);
  start(kNoon, share_rule(minutes(2)));
  tick_each_minute(kNoon, 8);
  ASSERT_EQ(phase_of_judge(), Phase::firing);
  start(kNoon + minutes(100), share_rule(minutes(2)));
  tick(kNoon + minutes(100));
  ASSERT_EQ(outbox().size(), 2U);
  EXPECT_EQ(outbox()[1].status, AlertStatus::resolved);
  EXPECT_EQ(episodes().front().resolved_at, kNoon + minutes(15)) << "bucket time, not ours";
}

TEST_F(EngineTest, ARuleThatIsGoneResolvesItsAlertAndSaysWhy) {  // F24
  judge_minutes(kNoon - hours(1), 60, 0);
  judge_minutes(kNoon, 60, 7);
  start(kNoon, share_rule(minutes(5)));
  tick_each_minute(kNoon, 8);
  ASSERT_EQ(phase_of_judge(), Phase::firing);
  RuleSpec other = share_rule(minutes(5));
  other.name = "another_rule";
  start(kNoon + minutes(8), other);
  tick(kNoon + minutes(8));
  const auto rows = outbox();
  ASSERT_GE(rows.size(), 2U);
  EXPECT_EQ(rows[1].status, AlertStatus::resolved);
  const auto all = episodes();
  const auto gone =
      std::ranges::find(all, "model_failures", [](const Episode& e) { return e.key.rule; });
  ASSERT_NE(gone, all.end());
  EXPECT_EQ(gone->resolve_reason, "the rule was removed or changed");
}

TEST_F(EngineTest, ALongerForPutsAFiringAlertBackToPendingWithItsClockKept) {  // A6
  judge_minutes(kNoon - hours(1), 60, 0);
  judge_minutes(kNoon, 60, 7);
  start(kNoon, share_rule(minutes(5)));
  tick_each_minute(kNoon, 8);
  ASSERT_EQ(phase_of_judge(), Phase::firing);
  start(kNoon + minutes(8), share_rule(minutes(10)));
  EXPECT_EQ(phase_of_judge(), Phase::pending);
  tick_each_minute(kNoon + minutes(8), 4);
  EXPECT_EQ(phase_of_judge(), Phase::firing);
  EXPECT_EQ(episodes().front().fired_at, kNoon + minutes(11));
}

TEST_F(EngineTest, AReceiverThatIsNewHearsOfWhatIsFiring) {  // P4
  judge_minutes(kNoon - hours(1), 60, 0);
  judge_minutes(kNoon, 60, 7);
  start(kNoon, share_rule(minutes(5)));
  tick_each_minute(kNoon, 8);
  engine_.reset();
  Route root;
  root.receiver = "second";
  engine_ = std::make_unique<Engine>(
      std::vector<SourceUnit>{{"script", source_, Duration::zero(), {ScriptedSource::plan()}}},
      std::vector<RuleSpec>{share_rule(minutes(5))},
      std::make_shared<const Announcer>(root, std::vector<QueuedPart>{{"second", "second"}},
                                        std::map<std::string, Labels>{}, ""),
      EngineSettings{}, *store_, [] { return std::chrono::steady_clock::time_point(); });
  ASSERT_TRUE(engine_->restore(kNoon + minutes(8)));
  tick(kNoon + minutes(8));
  EXPECT_EQ(store_->queued("second")->size(), 1U);
}

TEST_F(EngineTest, FirstStartFoldsThePastAndTellsOnlyWhatIsStillTrue) {
  judge_minutes(kNoon - hours(5), 60, 7);  // Long over.
  judge_minutes(kNoon - hours(4), 220, 0);
  judge_minutes(kNoon - minutes(20), 30, 7);
  start(kNoon, share_rule(minutes(5)));
  tick(kNoon);
  ASSERT_EQ(outbox().size(), 1U);
  EXPECT_EQ(outbox().front().status, AlertStatus::firing);
  EXPECT_EQ(episodes().front().onset, kNoon - minutes(20));
}

TEST_F(EngineTest, AStoreThatFailsForAWhileMutesNothingAndLosesNothing) {  // E10, F3
  judge_minutes(kNoon - hours(1), 60, 0);
  judge_minutes(kNoon, 60, 7);
  start(kNoon, share_rule(minutes(5)));
  engine_.reset();
  testing::FailingStore failing(*store_);
  engine_ = std::make_unique<Engine>(
      std::vector<SourceUnit>{{"script", source_, Duration::zero(), {ScriptedSource::plan()}}},
      std::vector<RuleSpec>{share_rule(minutes(5))}, announcer_, EngineSettings{}, failing,
      [] { return std::chrono::steady_clock::time_point(); });
  ASSERT_TRUE(engine_->restore(kNoon));
  failing.failing = Error{ErrorKind::unavailable, "disk full"};
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(engine_->tick(kNoon + minutes(i)).commit);
  EXPECT_EQ(phase_of_judge(), Phase::firing) << "judging goes on";
  failing.failing.reset();
  tick(kNoon + minutes(10));
  EXPECT_EQ(outbox().size(), 1U) << "what could not be written is written now";
  EXPECT_EQ(episodes().front().fired_at, kNoon + minutes(6));
  start(kNoon + minutes(11), share_rule(minutes(5)));
  EXPECT_EQ(phase_of_judge(), Phase::firing);
}

TEST_F(EngineTest, RestartAtAnyMinuteEndsInTheSameHistory) {
  judge_minutes(kNoon - hours(1), 60, 0);
  judge_minutes(kNoon, 12, 7);
  judge_minutes(kNoon + minutes(12), 12, 0);
  judge_minutes(kNoon + minutes(24), 12, 7);
  judge_minutes(kNoon + minutes(36), 12, 0);
  start(kNoon, share_rule(minutes(3)));
  tick_each_minute(kNoon, 48);
  const std::vector<Episode> straight = episodes();
  ASSERT_EQ(straight.size(), 2U);
  for (const int every : {1, 2, 3, 7, 11}) {
    engine_.reset();
    store_.reset();
    std::filesystem::remove(folder_ / "history.db");
    std::filesystem::remove(folder_ / "history.db-wal");
    for (int i = 0; i < 48; ++i) {
      if (i % every == 0) start(kNoon + minutes(i), share_rule(minutes(3)));
      tick(kNoon + minutes(i));
    }
    EXPECT_EQ(episodes(), straight) << "restarted every " << every << " minutes";
  }
}

}  // namespace
}  // namespace outcomed::testing
