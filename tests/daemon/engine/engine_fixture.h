// The engine on scripted minutes and a real SQLite store.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "daemon/engine/engine.h"
#include "daemon/storage/sqlite_store.h"
#include "detectors/share/share.h"
#include "tests/support/scripted_source.h"
#include "tests/support/temp_folder.h"

namespace outcomed::testing {

using std::chrono::hours;
using std::chrono::minutes;

inline constexpr Timestamp kNoon = from_unix_ms(1'796'040'000'000);  // 2026-11-30T12:00:00Z

inline RuleSpec share_rule(Duration hold, std::vector<std::string> by = {"model", "error_class"}) {
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

  TempFolder folder_;
  std::shared_ptr<ScriptedSource> source_;
  std::unique_ptr<SqliteStore> store_;
  std::shared_ptr<const Announcer> announcer_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace outcomed::testing
