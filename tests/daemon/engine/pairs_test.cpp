// Two scripted sources that answer the same question, in the engine with a real store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "daemon/engine/engine.h"
#include "daemon/engine/pair_watch.h"
#include "daemon/storage/sqlite_store.h"
#include "detectors/share/share.h"
#include "tests/support/scripted_source.h"
#include "tests/support/temp_folder.h"

namespace outcomed {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::HasSubstr;
using testing::ScriptedSource;

constexpr Timestamp kNoon = from_unix_ms(1'796'040'000'000);  // 2026-11-30T12:00:00Z

RuleSpec share_of_failures() {
  ShareParams params;
  params.above = 0.1;
  params.window = minutes(5);
  params.hold = minutes(5);
  params.min_requests = 5;
  RuleSpec spec;
  spec.name = "model_failures";
  spec.kind = "share";
  spec.signal = "requests";
  spec.by = {"model"};
  spec.detector =
      std::make_shared<ShareDetector>(params, SignalWords{"requests", "failed", minutes(1)});
  return spec;
}

class PairsTest : public ::testing::Test {
 protected:
  // A fresh process; the rows are read a minute and a half later than the metrics.
  void start(Timestamp now) {
    engine_.reset();
    store_.reset();
    auto opened = SqliteStore::open(folder_ / "history.db");
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = *std::move(opened);
    SignalPlan rows = ScriptedSource::plan("requests_by_rows");
    rows.same_as = "requests";
    Route root;
    root.receiver = "hook";
    const auto announcer = std::make_shared<const Announcer>(
        root, std::vector<QueuedPart>{{"hook", "hook"}}, std::map<std::string, Labels>{}, "");
    engine_ = std::make_unique<Engine>(
        std::vector<SourceUnit>{{"ledger", rows_, std::chrono::seconds(90), {rows}},
                                {"prom", metrics_, Duration::zero(), {ScriptedSource::plan()}}},
        std::vector<RuleSpec>{share_of_failures()}, announcer, EngineSettings{}, *store_,
        [] { return std::chrono::steady_clock::time_point(); });
    const Status restored = engine_->restore(now);
    ASSERT_TRUE(restored) << restored.error().message;
  }
  void put(Timestamp from, int count, std::int64_t metrics, std::int64_t rows) {
    for (int i = 0; i < count; ++i) {
      metrics_->put(from + minutes(i), "judge", metrics, 0);
      rows_->put(from + minutes(i), "judge", rows, 0);
    }
  }
  void tick_until(Timestamp from, Timestamp to) {
    for (Timestamp now = from; now <= to; now += minutes(1)) {
      const TickReport report = engine_->tick(now);
      EXPECT_TRUE(report.commit) << report.commit.error().message;
    }
  }
  std::vector<Episode> episodes() { return *store_->episodes({}); }
  [[nodiscard]] bool is_open(std::string_view rule) const {
    return std::ranges::any_of(engine_->open_episodes(),
                               [&](const auto& open) { return open.first.rule == rule; });
  }

  testing::TempFolder folder_;
  std::shared_ptr<ScriptedSource> metrics_ = std::make_shared<ScriptedSource>();
  std::shared_ptr<ScriptedSource> rows_ = std::make_shared<ScriptedSource>();
  std::unique_ptr<SqliteStore> store_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(PairsTest, TellsThatTheMetricsAreFrozenWhileNoRuleSeesAnything) {
  put(kNoon, 60, 10, 10);
  put(kNoon + hours(1), 60, 0, 10);
  put(kNoon + hours(2), 65, 10, 10);
  start(kNoon);
  tick_until(kNoon, kNoon + hours(2) + minutes(1));
  EXPECT_TRUE(engine_->open_episodes().empty());  // The rows of the last minute aren't read yet.
  tick_until(kNoon + hours(2) + minutes(2), kNoon + hours(2) + minutes(3));
  ASSERT_EQ(episodes().size(), 1U);
  EXPECT_EQ(episodes()[0].key.rule, "sources_differ");
  EXPECT_EQ(episodes()[0].key.severity, "ticket");
  EXPECT_EQ(episodes()[0].onset, kNoon + hours(1));
  EXPECT_EQ(episodes()[0].fired_at, kNoon + hours(2));
  EXPECT_THAT(episodes()[0].sentence, HasSubstr("0 against 600"));
  EXPECT_EQ(store_->queued("hook")->size(), 1U);
  tick_until(kNoon + hours(2) + minutes(4), kNoon + hours(3) + minutes(3));
  ASSERT_EQ(episodes().size(), 1U);
  EXPECT_EQ(episodes()[0].resolved_at, kNoon + hours(3));
  EXPECT_EQ(store_->queued("hook")->size(), 2U);
}

TEST_F(PairsTest, ARestartInTheMiddleOfAnHourForgetsNothing) {
  put(kNoon, 180, 20, 10);
  start(kNoon);
  tick_until(kNoon, kNoon + minutes(40));
  start(kNoon + minutes(41));
  tick_until(kNoon + minutes(41), kNoon + minutes(63));
  EXPECT_TRUE(is_open("sources_differ"));
  start(kNoon + minutes(64));
  EXPECT_TRUE(is_open("sources_differ"));
  tick_until(kNoon + minutes(64), kNoon + minutes(170));
  EXPECT_EQ(episodes().size(), 1U);
  EXPECT_EQ(store_->queued("hook")->size(), 1U);
}

TEST_F(PairsTest, ASourceThatIsAwayIsToldAsSuchAndNotCompared) {
  put(kNoon, 240, 10, 10);
  start(kNoon);
  tick_until(kNoon, kNoon + minutes(30));
  rows_->failing = Error{ErrorKind::unavailable, "connection refused"};
  tick_until(kNoon + minutes(31), kNoon + minutes(150));
  EXPECT_TRUE(is_open("source_down"));
  EXPECT_EQ(episodes()[0].key.severity, "ticket");  // No rule is blinded.
  rows_->failing.reset();
  tick_until(kNoon + minutes(151), kNoon + minutes(200));
  EXPECT_FALSE(is_open("source_down"));
  EXPECT_EQ(episodes().size(), 1U);
}

TEST_F(PairsTest, OfThePastBeforeAFirstStartOnlyTheNewestHourIsTold) {
  put(kNoon - hours(12), 600, 0, 10);
  put(kNoon - hours(2), 125, 10, 10);
  start(kNoon);
  tick_until(kNoon, kNoon + minutes(4));
  EXPECT_TRUE(episodes().empty());
}

TEST_F(PairsTest, APairThatIsNoMoreEndsItsAlert) {
  put(kNoon, 120, 20, 10);
  start(kNoon);
  tick_until(kNoon, kNoon + minutes(63));
  ASSERT_TRUE(is_open("sources_differ"));
  engine_ = std::make_unique<Engine>(
      std::vector<SourceUnit>{{"prom", metrics_, Duration::zero(), {ScriptedSource::plan()}}},
      std::vector<RuleSpec>{share_of_failures()},
      std::make_shared<const Announcer>(Route{}, std::vector<QueuedPart>{},
                                        std::map<std::string, Labels>{}, ""),
      EngineSettings{}, *store_, [] { return std::chrono::steady_clock::time_point(); });
  ASSERT_TRUE(engine_->restore(kNoon + minutes(64)));
  EXPECT_FALSE(is_open("sources_differ"));
}

}  // namespace
}  // namespace outcomed
