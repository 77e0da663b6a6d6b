// What is removed when, and how much at once.
#include "tests/daemon/storage/sqlite_store_fixture.h"

namespace outcomed::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST_F(SqliteStoreTest, PruneRemovesWhatIsOlderThanItsAgeAndKeepsTheRest) {
  const Timestamp now = minute(0) + 24h * 500;
  const auto ago = [&](Duration age) { return now - age; };
  TickRecord record;
  record.buckets = {{"s", ago(24h * 36), 60s, 0, ""},
                    {"s", ago(24h * 34), 60s, 0, ""},
                    {"day", ago(24h * 401), 24h, 0, ""},
                    {"day", ago(24h * 399), 24h, 0, ""}};
  record.snapshots = {{"old", "h", ago(24h * 401), ""}, {"new", "h", ago(24h), ""}};
  AlertState resolved = firing_alert(key_of("resolved", "x"), 0);
  resolved.phase = Phase::inactive;
  resolved.last_step = ago(24h * 401);
  AlertState lately = resolved;
  lately.key.rule = "lately";
  lately.last_step = ago(24h * 30);
  AlertState stuck = resolved;
  stuck.key.rule = "stuck";
  stuck.phase = Phase::firing;
  record.alerts = {resolved, lately, stuck};
  Episode old = episode_of(key_of("old", "x"), 1);
  old.fired_at = ago(24h * 405);
  old.resolved_at = ago(24h * 401);
  Episode open = old;
  open.id = "open";
  open.resolved_at.reset();
  open.config_hash = "needed";
  Episode recent = old;
  recent.id = "recent";
  recent.resolved_at = ago(24h * 399);
  record.episodes = {old, open, recent};
  const auto news = [&](OutboxState state, Duration age, const std::string& name) {
    OutboxRow row = news_of(open, "oncall", AlertStatus::firing);
    row.state = state;
    row.created_at = ago(24h * 600);
    row.settled_at = state == OutboxState::queued ? Timestamp{} : ago(age);
    row.last_answer = name;
    return row;
  };
  record.outbox = {news(OutboxState::delivered, 24h * 36, "old"),
                   news(OutboxState::delivered, 24h * 34, "new"),
                   news(OutboxState::dead, 24h * 36, "dead"),
                   news(OutboxState::queued, 0s, "waits for 600 days")};
  ASSERT_OK(store_->commit(record));
  ASSERT_OK(store_->remember_config("unused", "1", ago(24h * 401)));
  ASSERT_OK(store_->remember_config("needed", "2", ago(24h * 401)));
  ASSERT_OK(store_->remember_config("in force", "3", ago(24h * 401)));
  ASSERT_OK(store_->prune(now));

  const TimeRange ever{Timestamp{}, now};
  EXPECT_THAT(value_of(store_->buckets("s", ever)), SizeIs(1));
  EXPECT_THAT(value_of(store_->buckets("day", ever)), SizeIs(1));
  EXPECT_THAT(value_of(store_->snapshots()), SizeIs(1));
  EXPECT_THAT(value_of(store_->alerts()), ElementsAre(lately, stuck));
  EXPECT_THAT(ids(EpisodeFilter{}), ::testing::UnorderedElementsAre("open", "recent"));
  std::vector<std::string> kept;
  for (const auto& row : value_of(store_->deliveries(open.id))) kept.push_back(row.last_answer);
  for (const auto& row : value_of(store_->deliveries(old.id))) kept.push_back(row.last_answer);
  EXPECT_THAT(kept, ElementsAre("new", "waits for 600 days"));
  EXPECT_EQ(value_of(store_->last_config()), "3");
}

TEST_F(SqliteStoreTest, AnotherRetentionHoldsFromTheNextPruneOn) {
  TickRecord record;
  record.buckets = {{"s", minute(0), 60s, 0, ""}};
  ASSERT_OK(store_->commit(record));
  const Timestamp now = minute(0) + 24h * 3;
  ASSERT_OK(store_->prune(now));
  EXPECT_EQ(value_of(store_->buckets("s", {minute(0), now})).size(), 1U);
  Retention shorter;
  shorter.buckets = 24h * 2;
  store_->set_retention(shorter);
  ASSERT_OK(store_->prune(now));
  EXPECT_TRUE(value_of(store_->buckets("s", {minute(0), now})).empty());
}

TEST_F(SqliteStoreTest, PruneTakesAtMostAThousandRowsEachCall) {
  TickRecord record;
  for (int i = 0; i < 2500; ++i) record.buckets.push_back({"s", minute(i), 60s, 0, ""});
  ASSERT_OK(store_->commit(record));
  const TimeRange ever{minute(0), minute(2500)};
  const Timestamp later = minute(2500) + 24h * 36;
  for (const std::size_t left : {1500U, 500U, 0U}) {
    ASSERT_OK(store_->prune(later));
    const auto rows = value_of(store_->buckets("s", ever));
    ASSERT_THAT(rows, SizeIs(left));
    if (left > 0) {
      EXPECT_EQ(rows.back().start, minute(2499)) << "oldest first";
    }
  }
}

}  // namespace
}  // namespace outcomed::testing
