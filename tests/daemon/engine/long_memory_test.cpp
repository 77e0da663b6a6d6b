// Folds that know more than their buckets tell: they outlive the process, to the bit.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "daemon/engine/engine.h"
#include "daemon/storage/sqlite_store.h"
#include "tests/support/running_sum.h"
#include "tests/support/scripted_source.h"
#include "tests/support/temp_folder.h"

namespace outcomed {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::RunningSum;
using testing::ScriptedSource;

constexpr Timestamp kStart = from_unix_ms(1'796'040'000'000);

RuleSpec running_sum(std::vector<std::string> by, std::vector<std::string> members = {}) {
  RuleSpec spec;
  spec.name = "sums";
  spec.kind = "running_sum";
  spec.signal = "requests";
  spec.by = std::move(by);
  spec.identity = "sums";
  spec.detector = std::make_shared<RunningSum>(std::move(members));
  return spec;
}

class LongMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    std::mt19937 random(7);
    for (int minute = -400; minute < 600; ++minute) {
      const Timestamp at = kStart + minutes(minute);
      if (random() % 17 == 0) source_->gap(at);
      for (const char* model : {"a", "b"}) {
        source_->put(at, model, static_cast<int>(random() % 50), random() % 9 == 0 ? 3 : 0);
      }
      if (minute > 200) source_->put(at, "late", 5, random() % 5 == 0 ? 1 : 0, "rate_limited");
    }
  }

  std::unique_ptr<Engine> start(
      Timestamp now, RuleSpec rule, const EngineSettings& settings = {},
      const Engine::Stopwatch& stopwatch = [] { return std::chrono::steady_clock::time_point(); }) {
    if (!store_) {
      auto opened = SqliteStore::open(folder_ / "history.db");
      EXPECT_TRUE(opened);
      store_ = *std::move(opened);
    }
    auto announcer = std::make_shared<const Announcer>(Route{}, std::vector<QueuedPart>{},
                                                       std::map<std::string, Labels>{}, "");
    auto engine = std::make_unique<Engine>(
        std::vector<SourceUnit>{{"script", source_, Duration::zero(), {ScriptedSource::plan()}}},
        std::vector<RuleSpec>{std::move(rule)}, announcer, settings, *store_, stopwatch);
    const Status restored = engine->restore(now);
    EXPECT_TRUE(restored) << restored.error().message;
    return engine;
  }

  // Restarts after minutes for which `restart` says so; the memories in the end.
  template <class When>
  std::map<std::string, std::string> memories(const RuleSpec& rule, When restart) {
    store_.reset();
    std::filesystem::remove_all(folder_ / "history.db");
    std::filesystem::remove_all(folder_ / "history.db-wal");
    auto engine = start(kStart, rule);
    for (int minute = 0; minute < 500; ++minute) {
      const Timestamp now = kStart + minutes(minute);
      if (minute > 0 && restart(minute)) {
        engine.reset();
        source_->restart();
        store_.reset();  // As after kill -9: only what was committed is there.
        engine = start(now, rule);
      }
      engine->tick(now);
    }
    std::map<std::string, std::string> found;
    for (const auto& view : engine->groups("sums")) {
      Writer writer;
      view.fold->save(writer);
      found[view.labels.to_string()] = writer.take();
    }
    return found;
  }

  testing::TempFolder folder_;
  std::shared_ptr<ScriptedSource> source_ = std::make_shared<ScriptedSource>();
  std::unique_ptr<SqliteStore> store_;
};

TEST_F(LongMemory, OutlivesRestartsToTheBit) {
  const RuleSpec rule = running_sum({"model", "error_class"});
  const auto whole = memories(rule, [](int) { return false; });
  ASSERT_EQ(whole.size(), 3U);
  EXPECT_EQ(memories(rule, [](int minute) { return minute % 7 == 0; }), whole);
  std::mt19937 random(3);
  EXPECT_EQ(memories(rule, [&](int) { return random() % 61 == 0; }), whole);
}

TEST_F(LongMemory, KeepsTheMembersOfItsGroups) {
  const RuleSpec rule = running_sum({}, {"model"});
  const auto whole = memories(rule, [](int) { return false; });
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_EQ(memories(rule, [](int minute) { return minute % 41 == 0; }), whole);
}

TEST_F(LongMemory, BeginsAnewWhereTheRuleHasOtherSettings) {
  RuleSpec rule = running_sum({"model"});
  auto engine = start(kStart, rule);
  for (int minute = 0; minute <= 120; ++minute) engine->tick(kStart + minutes(minute));
  const std::int64_t before = engine->groups("sums").at(0).fold->verdict(0).n;
  engine.reset();
  store_.reset();
  source_->restart();
  engine = start(kStart + minutes(120), rule);
  EXPECT_EQ(engine->groups("sums").at(0).fold->verdict(0).n, before);
  engine.reset();
  store_.reset();
  source_->restart();
  rule.identity = "other settings";
  engine = start(kStart + minutes(120), rule);
  const std::int64_t anew = engine->groups("sums").at(0).fold->verdict(0).n;
  EXPECT_LT(anew, before) << "the stored buckets of its reach make it";
  EXPECT_GT(anew, 0);
}

TEST_F(LongMemory, OfWhatIsLongOverTellsNobodyAtTheFirstStart) {
  source_ = std::make_shared<ScriptedSource>();
  for (int minute = -400; minute < 10; ++minute) {
    source_->put(kStart + minutes(minute), "a", 10, minute < -30 && minute > -200 ? 10 : 0);
  }
  auto engine = start(kStart, running_sum({"model"}));
  EXPECT_TRUE(engine->tick(kStart).episodes.empty());
}

TEST_F(LongMemory, OfASourceWithoutAPastBeginsNow) {
  source_->knows_the_past = false;
  auto engine = start(kStart, running_sum({"model"}));
  engine->tick(kStart + minutes(1));
  EXPECT_EQ(source_->fetches, 1);
  EXPECT_EQ(engine->folded_buckets(), 1U);
}

TEST_F(LongMemory, IsReadInSeveralTicksWhereThatTakesLong) {
  EngineSettings settings;
  settings.chunk_values = 1;  // Sixteen minutes a piece.
  settings.longest_catch_up = std::chrono::seconds(10);
  auto now = std::chrono::steady_clock::time_point();
  auto engine = start(kStart, running_sum({"model"}), settings, [&now] {
    now += std::chrono::seconds(4);  // Of every look at the clock.
    return now;
  });
  int ticks = 1;
  while (engine->tick(kStart).sources.at(0).behind) ++ticks;
  EXPECT_GT(ticks, 3);
  EXPECT_LT(ticks, 20);
  EXPECT_EQ(engine->watermarks().at(0).second, kStart);
  const std::int64_t in_pieces = engine->groups("sums").at(0).fold->verdict(0).n;
  store_.reset();
  std::filesystem::remove_all(folder_ / "history.db");
  source_->restart();
  auto whole = start(kStart, running_sum({"model"}));
  EXPECT_FALSE(whole->tick(kStart).sources.at(0).behind);
  EXPECT_EQ(whole->groups("sums").at(0).fold->verdict(0).n, in_pieces);
}

TEST_F(LongMemory, OfWhatGoesOnIsToldAtTheFirstStart) {
  source_ = std::make_shared<ScriptedSource>();
  for (int minute = -400; minute < 10; ++minute) {
    source_->put(kStart + minutes(minute), "a", 10, minute > -200 ? 10 : 0);
  }
  auto engine = start(kStart, running_sum({"model"}));
  ASSERT_EQ(engine->tick(kStart).episodes.size(), 1U);
}

}  // namespace
}  // namespace outcomed
