// The engine: alerts from buckets, missing data, backlog, several rules.
#include "tests/daemon/engine/engine_fixture.h"

namespace outcomed::testing {
namespace {

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

TEST_F(EngineTest, WallClockStepsBackMakeNoSecondEpisode) {  // F1
  judge_minutes(kNoon - hours(1), 60, 0);
  judge_minutes(kNoon, 60, 7);
  start(kNoon, share_rule(minutes(5)));
  tick_each_minute(kNoon, 10);
  tick_each_minute(kNoon - minutes(30), 41);
  EXPECT_EQ(episodes().size(), 1U);
  EXPECT_EQ(outbox().size(), 1U);
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

}  // namespace
}  // namespace outcomed::testing
