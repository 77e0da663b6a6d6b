// The engine on scripted minutes and a real SQLite store: lifecycle, restarts, backlog, missing
// data.
#include "daemon/engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "daemon/storage/sqlite_store.h"
#include "detectors/share/share.h"
#include "tests/support/failing_store.h"
#include "tests/support/scripted_source.h"
#include "tests/support/temp_folder.h"

namespace outcomed {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::ScriptedSource;

constexpr Timestamp kNoon = from_unix_ms(1'796'040'000'000);  // 2026-11-30T12:00:00Z

RuleSpec share_rule(Duration hold, std::vector<std::string> by = {"model", "error_class"}) {
  ShareParams params;
  params.above = 0.1;
  params.window = minutes(5);
  params.hold = hold;
  params.min_requests = 5;
  RuleSpec spec;
  spec.name = "model_failures";
  spec.kind = "share";
  spec.signal = "requests";
  spec.by = std::move(by);
  spec.labels = {{"team", "llm"}};
  spec.detector =
      std::make_shared<ShareDetector>(params, SignalWords{"requests", "failed", minutes(1)});
  return spec;
}

class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    open_store();
    source_ = std::make_shared<ScriptedSource>();
  }

  void open_store() {
    store_.reset();
    auto opened = SqliteStore::open(folder_ / "history.db");
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = *std::move(opened);
  }

  // A fresh process: nothing is carried over but the store and the outside world.
  void start(Timestamp now, RuleSpec rule) {
    engine_.reset();
    open_store();
    Route root;
    root.receiver = "hook";
    announcer_ = std::make_shared<const Announcer>(root, std::vector<QueuedPart>{{"hook", "hook"}},
                                                   std::map<std::string, Labels>{}, "");
    engine_ = std::make_unique<Engine>(
        std::vector<SourceUnit>{{"script", source_, Duration::zero(), {ScriptedSource::plan()}}},
        std::vector<RuleSpec>{std::move(rule)}, announcer_, EngineSettings{}, *store_,
        [] { return std::chrono::steady_clock::time_point(); });
    const Status restored = engine_->restore(now);
    ASSERT_TRUE(restored) << restored.error().message;
  }

  // judge: 8 requests a minute, k of them refused; the others are fine.
  void judge_minutes(Timestamp from, int count, std::int64_t k) {
    for (int i = 0; i < count; ++i) {
      source_->put(from + minutes(i), "judge", 8, k);
      source_->put(from + minutes(i), "gpt-4o", 100, 0);
    }
  }

  TickReport tick(Timestamp now) {
    TickReport report = engine_->tick(now);
    EXPECT_TRUE(report.commit) << report.commit.error().message;
    return report;
  }
  void tick_each_minute(Timestamp from, int count) {
    for (int i = 0; i < count; ++i) tick(from + minutes(i));
  }

  std::vector<OutboxRow> outbox() { return *store_->queued("hook"); }
  std::vector<Episode> episodes() { return *store_->episodes({}); }
  Phase phase_of_judge() {
    for (const auto& view : engine_->groups("model_failures")) {
      if (view.labels.get("model") == "judge") return view.state->phase;
    }
    return Phase::inactive;
  }

  testing::TempFolder folder_;
  std::shared_ptr<ScriptedSource> source_;
  std::unique_ptr<SqliteStore> store_;
  std::shared_ptr<const Announcer> announcer_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineTest, FindsAFailingModelAndTellsWhenItFiresAndWhenItIsOver) {
  judge_minutes(kNoon - hours(2), 120, 0);
  judge_minutes(kNoon, 20, 7);
  judge_minutes(kNoon + minutes(20), 30, 0);
  start(kNoon, share_rule(minutes(5)));
  tick_each_minute(kNoon, 6);
  EXPECT_EQ(phase_of_judge(), Phase::pending);
  EXPECT_TRUE(outbox().empty());
  tick_each_minute(kNoon + minutes(6), 1);
  EXPECT_EQ(phase_of_judge(), Phase::firing);
  ASSERT_EQ(outbox().size(), 1U);
  const Episode episode = episodes().front();
  EXPECT_EQ(episode.onset, kNoon);
  EXPECT_EQ(episode.pending_at, kNoon + minutes(1));
  EXPECT_EQ(episode.fired_at, kNoon + minutes(6));
  EXPECT_EQ(episode.k, 35);
  EXPECT_EQ(episode.n, 40);
  EXPECT_EQ(episode.key.group, (Labels{{"model", "judge"}, {"error_class", "router_refusal"}}));
  EXPECT_FALSE(episode.resolved_at);
  tick_each_minute(kNoon + minutes(7), 25);
  EXPECT_EQ(phase_of_judge(), Phase::inactive);
  ASSERT_EQ(outbox().size(), 2U);
  EXPECT_EQ(outbox()[1].status, AlertStatus::resolved);
  EXPECT_EQ(outbox()[1].episode, outbox()[0].episode);
  EXPECT_EQ(episodes().front().resolved_at, kNoon + minutes(25));
}

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

TEST_F(EngineTest, TellsADayOfBacklogAsOneMessageAboutNow) {  // A11
  judge_minutes(kNoon - hours(1), 60, 0);
  start(kNoon, share_rule(Duration::zero()));
  tick(kNoon);
  for (int i = 0; i < 24; ++i) {
    judge_minutes(kNoon + hours(i), 10, 7);
    judge_minutes(kNoon + hours(i) + minutes(10), 50, 0);
  }
  judge_minutes(kNoon + hours(24), 10, 7);
  start(kNoon + hours(24) + minutes(5), share_rule(Duration::zero()));
  tick(kNoon + hours(24) + minutes(5));
  ASSERT_EQ(outbox().size(), 1U);
  EXPECT_EQ(outbox().front().status, AlertStatus::firing);
  EXPECT_EQ(episodes().size(), 25U) << "history keeps the others";
}

TEST_F(EngineTest, MissingDataNeitherFiresNorResolves) {  // B1, B2
  judge_minutes(kNoon - hours(1), 60, 0);
  judge_minutes(kNoon, 10, 7);
  for (int i = 10; i < 100; ++i) source_->gap(kNoon + minutes(i));
  judge_minutes(kNoon + minutes(100), 10, 7);
  start(kNoon, share_rule(minutes(2)));
  tick_each_minute(kNoon, 109);
  EXPECT_EQ(phase_of_judge(), Phase::firing);
  std::size_t resolved = 0;
  for (const OutboxRow& row : outbox()) {
    resolved += row.key.rule == "model_failures" && row.status == AlertStatus::resolved ? 1 : 0;
  }
  EXPECT_EQ(resolved, 0U);
}

TEST_F(EngineTest, OneMissedScrapeDoesNotStartThePendingClockAnew) {  // B3
  judge_minutes(kNoon - hours(1), 60, 0);
  judge_minutes(kNoon, 30, 7);
  source_->gap(kNoon + minutes(2));
  source_->gap(kNoon + minutes(4));
  start(kNoon, share_rule(minutes(5)));
  tick_each_minute(kNoon, 10);
  ASSERT_EQ(episodes().size(), 1U);
  EXPECT_EQ(episodes().front().fired_at, kNoon + minutes(8))
      << "two minutes nobody saw count nothing";
}

TEST_F(EngineTest, FiresAgainAsANewEpisodeAfterAResolve) {  // B7, B8
  judge_minutes(kNoon - hours(1), 60, 0);
  judge_minutes(kNoon, 10, 7);
  judge_minutes(kNoon + minutes(10), 10, 0);
  judge_minutes(kNoon + minutes(20), 10, 7);
  start(kNoon, share_rule(Duration::zero()));
  tick_each_minute(kNoon, 31);
  ASSERT_EQ(episodes().size(), 2U);
  EXPECT_NE(episodes()[0].id, episodes()[1].id);
  EXPECT_EQ(outbox().size(), 3U) << "firing, resolved, firing";
}

TEST_F(EngineTest, RaisesOneAlertForASourceThatStaysAwayAndNamesTheRulesItBlinds) {
  judge_minutes(kNoon - hours(1), 60, 0);
  start(kNoon, share_rule(minutes(5)));
  tick(kNoon);
  source_->failing = Error{ErrorKind::unavailable, "connection refused"};
  tick_each_minute(kNoon + minutes(1), 30);
  ASSERT_EQ(outbox().size(), 1U);
  EXPECT_EQ(outbox()[0].key.rule, "source_down");
  const Episode down = episodes().front();
  EXPECT_NE(down.sentence.find("connection refused"), std::string::npos) << down.sentence;
  EXPECT_NE(down.sentence.find("model_failures"), std::string::npos) << down.sentence;
  start(kNoon + minutes(31), share_rule(minutes(5)));  // A restart does not say it again.
  tick(kNoon + minutes(31));
  EXPECT_EQ(outbox().size(), 1U);
  source_->failing.reset();
  judge_minutes(kNoon + minutes(1), 40, 0);
  tick(kNoon + minutes(32));
  ASSERT_EQ(outbox().size(), 2U);
  EXPECT_EQ(outbox()[1].status, AlertStatus::resolved);
}

TEST_F(EngineTest, ReadsWhatItMissedWhileTheSourceWasAway) {
  judge_minutes(kNoon - hours(1), 60, 0);
  judge_minutes(kNoon, 60, 7);
  start(kNoon, share_rule(minutes(5)));
  tick(kNoon);
  source_->failing = Error{ErrorKind::timeout, "no answer"};
  tick_each_minute(kNoon + minutes(1), 3);
  source_->failing.reset();
  tick(kNoon + minutes(20));
  ASSERT_EQ(episodes().size(), 1U);
  EXPECT_EQ(episodes().front().fired_at, kNoon + minutes(6)) << "as if it had been there";
}

TEST_F(EngineTest, AClassThatAppearsNowIsJudgedAgainstTheRequestsOfTheWholeWindow) {
  judge_minutes(kNoon - hours(1), 60, 0);
  source_->put(kNoon, "judge", 8, 2, "rate_limited");  // 2 of 40 in the window, not 2 of 8.
  start(kNoon - minutes(10), share_rule(Duration::zero()));
  tick_each_minute(kNoon - minutes(10), 12);
  EXPECT_TRUE(episodes().empty());
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

TEST_F(EngineTest, WallClockStepsBackMakeNoSecondEpisode) {  // F1
  judge_minutes(kNoon - hours(1), 60, 0);
  judge_minutes(kNoon, 60, 7);
  start(kNoon, share_rule(minutes(5)));
  tick_each_minute(kNoon, 10);
  tick_each_minute(kNoon - minutes(30), 41);
  EXPECT_EQ(episodes().size(), 1U);
  EXPECT_EQ(outbox().size(), 1U);
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

TEST_F(EngineTest, AMinuteIsJudgedOnlyWhenTheDelayOfItsSourceHasPassed) {  // F4
  judge_minutes(kNoon - hours(1), 120, 7);
  engine_ = std::make_unique<Engine>(
      std::vector<SourceUnit>{{"script", source_, minutes(3), {ScriptedSource::plan()}}},
      std::vector<RuleSpec>{share_rule(minutes(5))},
      std::make_shared<const Announcer>(Route{}, std::vector<QueuedPart>{},
                                        std::map<std::string, Labels>{}, ""),
      EngineSettings{}, *store_, [] { return std::chrono::steady_clock::time_point(); });
  ASSERT_TRUE(engine_->restore(kNoon));
  tick(kNoon + std::chrono::seconds(59));
  EXPECT_EQ(engine_->watermarks().front().second, kNoon - minutes(3));
  tick(kNoon + minutes(1));
  EXPECT_EQ(engine_->watermarks().front().second, kNoon - minutes(2));
}

TEST_F(EngineTest, ATickThatComesLateCoversEveryMinuteItMissed) {  // F2
  judge_minutes(kNoon - hours(1), 60, 0);
  judge_minutes(kNoon, 60, 7);
  start(kNoon, share_rule(minutes(5)));
  tick(kNoon);
  const TickReport report = tick(kNoon + minutes(17));
  EXPECT_EQ(report.sources.front().folded, (TimeRange{kNoon, kNoon + minutes(17)}));
  ASSERT_EQ(episodes().size(), 1U);
  EXPECT_EQ(episodes().front().fired_at, kNoon + minutes(6));
}

TEST_F(EngineTest, TwoRulesWithTheSameGroupsAreTwoAlerts) {  // D7
  judge_minutes(kNoon - hours(1), 60, 0);
  judge_minutes(kNoon, 60, 7);
  RuleSpec second = share_rule(minutes(5));
  second.name = "second";
  engine_.reset();
  Route root;
  root.receiver = "hook";
  engine_ = std::make_unique<Engine>(
      std::vector<SourceUnit>{{"script", source_, Duration::zero(), {ScriptedSource::plan()}}},
      std::vector<RuleSpec>{share_rule(minutes(5)), second},
      std::make_shared<const Announcer>(root, std::vector<QueuedPart>{{"hook", "hook"}},
                                        std::map<std::string, Labels>{}, ""),
      EngineSettings{}, *store_, [] { return std::chrono::steady_clock::time_point(); });
  ASSERT_TRUE(engine_->restore(kNoon));
  tick_each_minute(kNoon, 8);
  ASSERT_EQ(episodes().size(), 2U);
  EXPECT_NE(episodes()[0].id, episodes()[1].id);
  EXPECT_EQ(outbox().size(), 2U);
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
}  // namespace outcomed
