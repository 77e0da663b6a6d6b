// What is committed comes back, from the same store and from a reopened one.
#include <cmath>
#include <functional>
#include <limits>
#include <thread>

#include "tests/daemon/storage/sqlite_store_fixture.h"

namespace outcomed::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(SqliteStoreTest, ANewStoreIsEmpty) {
  EXPECT_THAT(value_of(store_->sources()), IsEmpty());
  EXPECT_THAT(value_of(store_->cells()), IsEmpty());
  EXPECT_THAT(value_of(store_->buckets("requests", {minute(0), minute(1000)})), IsEmpty());
  EXPECT_THAT(value_of(store_->snapshots()), IsEmpty());
  EXPECT_THAT(value_of(store_->alerts()), IsEmpty());
  EXPECT_THAT(value_of(store_->current_episodes(minute(0))), IsEmpty());
  EXPECT_THAT(value_of(store_->episodes({})), IsEmpty());
  EXPECT_EQ(value_of(store_->episode("none")), std::nullopt);
  EXPECT_THAT(value_of(store_->queued("oncall")), IsEmpty());
  EXPECT_THAT(value_of(store_->deliveries("none")), IsEmpty());
  EXPECT_EQ(value_of(store_->last_config()), std::nullopt);
  ASSERT_OK(store_->prune(minute(0)));
  ASSERT_OK(store_->commit({}));
}

TEST_F(SqliteStoreTest, SourcesCellsBucketsAndSnapshotsComeBackByteForByte) {
  const std::string bytes(
      "\0\xff"
      "a\x80",
      4);
  TickRecord record;
  record.sources = {{"prom", minute(3), bytes}, {"ledger", Timestamp{}, ""}};
  record.cells = {{"requests", 0, {{"model", "judge"}}}, {"requests", 1, {}}};
  record.buckets = {{"requests", minute(1), 60s, 0, bytes}, {"requests", minute(2), 60s, 3, ""}};
  record.snapshots = {{"rule", "hash", minute(2), bytes}};
  ASSERT_OK(store_->commit(record));
  reopen();

  const auto sources = value_of(store_->sources());
  ASSERT_THAT(sources, SizeIs(2));
  EXPECT_EQ(sources[0].source, "ledger");
  EXPECT_EQ(sources[0].watermark, Timestamp{});
  EXPECT_EQ(sources[0].memory, "");
  EXPECT_EQ(sources[1].source, "prom");
  EXPECT_EQ(sources[1].watermark, minute(3));
  EXPECT_EQ(sources[1].memory, bytes);

  const auto cells = value_of(store_->cells());
  ASSERT_THAT(cells, SizeIs(2));
  EXPECT_EQ(cells[0].id, 0U);
  EXPECT_EQ(cells[0].labels, (Labels{{"model", "judge"}}));
  EXPECT_EQ(cells[1].id, 1U);
  EXPECT_EQ(cells[1].labels, Labels{});

  const auto buckets = value_of(store_->buckets("requests", {minute(1), minute(3)}));
  ASSERT_THAT(buckets, SizeIs(2));
  EXPECT_EQ(buckets[0].signal, "requests");
  EXPECT_EQ(buckets[0].start, minute(1));
  EXPECT_EQ(buckets[0].length, 60s);
  EXPECT_EQ(buckets[0].coverage, 0);
  EXPECT_EQ(buckets[0].cells, bytes);
  EXPECT_EQ(buckets[1].coverage, 3);

  const auto snapshots = value_of(store_->snapshots());
  ASSERT_THAT(snapshots, SizeIs(1));
  EXPECT_EQ(snapshots[0].rule, "rule");
  EXPECT_EQ(snapshots[0].settings_hash, "hash");
  EXPECT_EQ(snapshots[0].at, minute(2));
  EXPECT_EQ(snapshots[0].folds, bytes);
}

TEST_F(SqliteStoreTest, ARangeOfBucketsIsHalfOpenByTheirStart) {
  TickRecord record;
  for (const int i : {4, 1, 3, 2}) record.buckets.push_back({"s", minute(i), 60s, 0, "x"});
  record.buckets.push_back({"other", minute(2), 60s, 0, "x"});
  ASSERT_OK(store_->commit(record));
  std::vector<Timestamp> starts;
  for (const auto& row : value_of(store_->buckets("s", {minute(2), minute(4)}))) {
    starts.push_back(row.start);
  }
  EXPECT_THAT(starts, ElementsAre(minute(2), minute(3)));
  EXPECT_THAT(value_of(store_->buckets("s", {minute(4), minute(2)})), IsEmpty());
}

TEST_F(SqliteStoreTest, ABucketThatIsStoredAgainReplacesTheOld) {
  TickRecord record;
  record.buckets = {{"s", minute(1), 60s, 1, "old"}};
  ASSERT_OK(store_->commit(record));
  record.buckets = {{"s", minute(1), 60s, 0, "new"}};
  ASSERT_OK(store_->commit(record));
  const auto rows = value_of(store_->buckets("s", {minute(0), minute(9)}));
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].cells, "new");
}

TEST_F(SqliteStoreTest, ACellMayBeToldAgainButNeverBecomesAnother) {
  TickRecord record;
  record.cells = {{"s", 7, {{"model", "a"}}}};
  ASSERT_OK(store_->commit(record));
  ASSERT_OK(store_->commit(record));
  record.cells = {{"s", 8, {{"model", "c"}}}, {"s", 7, {{"model", "b"}}}};
  const Status refused = store_->commit(record);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("cell 7 of signal s"));
  const auto cells = value_of(store_->cells());
  ASSERT_THAT(cells, SizeIs(1)) << "the other cell of the refused commit was kept";
  EXPECT_EQ(cells[0].labels, (Labels{{"model", "a"}}));
}

TEST_F(SqliteStoreTest, LabelsOfAnyBytesKeepTheirIdentity) {
  // Label values are written by whoever calls the gateway.
  const std::vector<std::string> values = {"judge",
                                           "a\"b\\c",
                                           "x\ny",
                                           "\xc3\x28",
                                           "\xed\xa0\x80",
                                           "\xf0\x9f\x98\x80",
                                           std::string("n\0ul", 4),
                                           "'; DROP TABLE alert;--",
                                           "{\"model\":\"judge\"}",
                                           "\xff"};
  TickRecord record;
  for (const std::string& value : values) {
    AlertState state = firing_alert(key_of("r", value), 1);
    state.key.group.set("bad\xff name", "v");
    record.alerts.push_back(state);
  }
  ASSERT_OK(store_->commit(record));
  ASSERT_OK(store_->commit(record));
  reopen();
  EXPECT_THAT(value_of(store_->alerts()), ::testing::UnorderedElementsAreArray(record.alerts));
}

TEST_F(SqliteStoreTest, AnAlertIsForgottenOnlyWhenItHoldsNothing) {
  AlertState state = firing_alert(key_of("r", "judge"), 1);
  ASSERT_OK(store_->commit(tick_with_alerts({state})));
  EXPECT_THAT(value_of(store_->alerts()), ElementsAre(state));

  state.phase = Phase::inactive;  // Resolved: last_step keeps old buckets from firing it again.
  ASSERT_OK(store_->commit(tick_with_alerts({state})));
  EXPECT_THAT(value_of(store_->alerts()), ElementsAre(state));

  AlertState blank;
  blank.key = state.key;
  ASSERT_OK(store_->commit(tick_with_alerts({blank})));
  EXPECT_THAT(value_of(store_->alerts()), IsEmpty());
}

TEST_F(SqliteStoreTest, AlertsOfOneRuleDifferBySeverityAndGroup) {
  AlertState page = firing_alert(key_of("r", "judge"), 1);
  AlertState ticket = page;
  ticket.key.severity = "ticket";
  ticket.phase = Phase::pending;
  AlertState other = firing_alert(key_of("r", "chat"), 9);
  ASSERT_OK(store_->commit(tick_with_alerts({page, ticket, other})));
  EXPECT_THAT(value_of(store_->alerts()), ::testing::UnorderedElementsAre(page, ticket, other));
}

TEST_F(SqliteStoreTest, AnEpisodeComesBackWholeOpenAndResolved) {
  Episode episode = episode_of(key_of("r", "judge"), 10);
  episode.facts.emplace_back("raw \xff", "\xc3");
  ASSERT_OK(store_->commit(tick_with_episodes({episode})));
  EXPECT_EQ(value_of(store_->episode(episode.id)), episode);

  episode.resolved_at = minute(20);
  episode.resolve_reason = "recovered";
  episode.resolve_sentence = "3 of 90 failed";
  ASSERT_OK(store_->commit(tick_with_episodes({episode})));
  reopen();
  EXPECT_EQ(value_of(store_->episode(episode.id)), episode);
  EXPECT_THAT(value_of(store_->episodes({})), SizeIs(1));
}

TEST_F(SqliteStoreTest, ExtremeNumbersComeBack) {
  Episode episode = episode_of(key_of("r", "judge"), 10);
  episode.k = std::numeric_limits<std::int64_t>::max();
  episode.n = std::numeric_limits<std::int64_t>::min();
  episode.measured = std::numeric_limits<double>::quiet_NaN();
  episode.threshold = std::numeric_limits<double>::infinity();
  ASSERT_OK(store_->commit(tick_with_episodes({episode})));
  const auto back = value_of(store_->episode(episode.id));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->k, episode.k);
  EXPECT_EQ(back->n, episode.n);
  EXPECT_TRUE(std::isnan(back->measured));
  EXPECT_EQ(back->threshold, episode.threshold);
}

TEST_F(SqliteStoreTest, EpisodesAreFilteredByRuleTimeAndState) {
  Episode early = episode_of(key_of("a", "1"), 10);
  early.resolved_at = minute(20);
  Episode middle = episode_of(key_of("b", "1"), 30);
  middle.resolved_at = minute(40);
  const Episode open = episode_of(key_of("a", "2"), 50);
  ASSERT_OK(store_->commit(tick_with_episodes({middle, open, early})));

  EXPECT_THAT(ids(EpisodeFilter{}), ElementsAre(open.id, middle.id, early.id));
  EXPECT_THAT(ids(filter([](EpisodeFilter& f) { f.rule = "a"; })), ElementsAre(open.id, early.id));
  EXPECT_THAT(ids(filter([](EpisodeFilter& f) { f.open_only = true; })), ElementsAre(open.id));
  EXPECT_THAT(ids(filter([](EpisodeFilter& f) { f.from = minute(40); })),
              ElementsAre(open.id, middle.id));
  EXPECT_THAT(ids(filter([](EpisodeFilter& f) { f.from = minute(41); })), ElementsAre(open.id));
  EXPECT_THAT(ids(filter([](EpisodeFilter& f) { f.to = minute(30); })), ElementsAre(early.id));
  EXPECT_THAT(ids(filter([](EpisodeFilter& f) {
                f.from = minute(15);
                f.to = minute(31);
              })),
              ElementsAre(middle.id, early.id));
  EXPECT_THAT(ids(filter([](EpisodeFilter& f) { f.limit = 2; })), ElementsAre(open.id, middle.id));
  EXPECT_THAT(ids(filter([](EpisodeFilter& f) { f.limit = 0; })), IsEmpty());
  EXPECT_THAT(ids(filter([](EpisodeFilter& f) { f.rule = "a' OR 1=1 --"; })), IsEmpty());
  EXPECT_THAT(
      ids(filter([](EpisodeFilter& f) { f.limit = std::numeric_limits<std::size_t>::max(); })),
      SizeIs(3));
}

TEST_F(SqliteStoreTest, CurrentEpisodesAreTheOpenOnesAndTheLatelyResolved) {
  Episode old = episode_of(key_of("a", "1"), 10);
  old.resolved_at = minute(20);
  Episode fresh = episode_of(key_of("b", "1"), 5);
  fresh.resolved_at = minute(30);
  const Episode open = episode_of(key_of("c", "1"), 1);
  ASSERT_OK(store_->commit(tick_with_episodes({old, fresh, open})));
  std::vector<std::string> found;
  for (const auto& episode : value_of(store_->current_episodes(minute(30)))) {
    found.push_back(episode.id);
  }
  EXPECT_THAT(found, ElementsAre(fresh.id, open.id));
}

TEST_F(SqliteStoreTest, OutboxRowsGetAscendingIdsThatAreNeverUsedAgain) {
  const Episode episode = episode_of(key_of("r", "judge"), 10);
  const auto firing = news_of(episode, "oncall", AlertStatus::firing);
  const auto resolved = news_of(episode, "oncall", AlertStatus::resolved);
  const auto elsewhere = news_of(episode, "hooks", AlertStatus::firing);
  ASSERT_OK(store_->commit(tick_with_outbox({firing, elsewhere, resolved})));
  auto rows = value_of(store_->queued("oncall"));
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_LT(rows[0].id, rows[1].id);
  EXPECT_EQ(rows[0].status, AlertStatus::firing);
  EXPECT_EQ(rows[1].status, AlertStatus::resolved);
  OutboxRow expected = resolved;
  expected.id = rows[1].id;
  EXPECT_EQ(shown(rows[1]), shown(expected));

  const auto highest = rows[1].id;
  for (OutboxRow row : rows) {
    row.state = OutboxState::delivered;
    row.settled_at = minute(11);
    ASSERT_OK(store_->settle({row}));
  }
  ASSERT_OK(store_->prune(minute(11) + 24h * 36));
  reopen();
  ASSERT_OK(store_->commit(tick_with_outbox({firing})));
  rows = value_of(store_->queued("oncall"));
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_GT(rows[0].id, highest);
}

TEST_F(SqliteStoreTest, SettlingARowWritesItsFateAndNothingElse) {
  const Episode episode = episode_of(key_of("r", "judge"), 10);
  ASSERT_OK(store_->commit(tick_with_outbox({news_of(episode, "oncall", AlertStatus::firing)})));
  OutboxRow row = value_of(store_->queued("oncall")).at(0);
  OutboxRow tried = row;
  tried.attempts = 3;
  tried.next_attempt = minute(12);
  tried.last_answer = "HTTP 503";
  ASSERT_OK(store_->settle({tried}));
  EXPECT_EQ(shown(value_of(store_->queued("oncall")).at(0)), shown(tried));

  tried.state = OutboxState::dead;
  tried.settled_at = minute(13);
  tried.receiver = "somebody else";
  tried.message.alerts.clear();
  ASSERT_OK(store_->settle({tried}));
  EXPECT_THAT(value_of(store_->queued("oncall")), IsEmpty());
  const auto told = value_of(store_->deliveries(episode.id));
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].state, OutboxState::dead);
  EXPECT_EQ(told[0].receiver, "oncall");
  EXPECT_EQ(to_json(told[0].message), to_json(row.message));
}

TEST_F(SqliteStoreTest, SettlingAnUnknownRowIsAnError) {
  OutboxRow row;
  row.id = 99;
  const Status status = store_->settle({row});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::invalid);
  EXPECT_THAT(status.error().message, HasSubstr("no row 99"));
}

TEST_F(SqliteStoreTest, SettlesAllRowsOrNone) {
  const Episode episode = episode_of(key_of("r", "judge"), 10);
  ASSERT_OK(store_->commit(tick_with_outbox({news_of(episode, "oncall", AlertStatus::firing)})));
  OutboxRow row = value_of(store_->queued("oncall")).at(0);
  row.state = OutboxState::delivered;
  OutboxRow unknown = row;
  unknown.id = 99;
  EXPECT_FALSE(store_->settle({row, unknown}));
  EXPECT_THAT(value_of(store_->queued("oncall")), SizeIs(1));
  ASSERT_OK(store_->settle({row}));
  EXPECT_THAT(value_of(store_->queued("oncall")), IsEmpty());
}

TEST_F(SqliteStoreTest, TheConfigurationRememberedLastIsTheLast) {
  ASSERT_OK(store_->remember_config("a", "rules: a", minute(1)));
  ASSERT_OK(store_->remember_config("b", "rules: b", minute(2)));
  EXPECT_EQ(value_of(store_->last_config()), "rules: b");
  // Back to the first, on a machine whose clock was set back.
  ASSERT_OK(store_->remember_config("a", "rules: a", minute(0)));
  EXPECT_EQ(value_of(store_->last_config()), "rules: a");
  reopen();
  EXPECT_EQ(value_of(store_->last_config()), "rules: a");
}

TEST_F(SqliteStoreTest, CallsFromManyThreadsTakeTurns) {
  constexpr int kThreads = 4;
  constexpr int kCommits = 25;
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kCommits; ++i) {
        const AlertKey key = key_of("r" + std::to_string(t), std::to_string(i));
        TickRecord record;
        record.alerts = {firing_alert(key, i)};
        record.outbox = {news_of(episode_of(key, i), "oncall", AlertStatus::firing)};
        EXPECT_TRUE(store_->commit(record));
        EXPECT_TRUE(store_->queued("oncall"));
      }
    });
  }
  threads.clear();
  EXPECT_THAT(value_of(store_->alerts()), SizeIs(kThreads * kCommits));
  EXPECT_THAT(value_of(store_->queued("oncall")), SizeIs(kThreads * kCommits));
}

}  // namespace
}  // namespace outcomed::testing
