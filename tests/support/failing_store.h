// A store whose commits fail while a test says so; everything else goes to the real one.
#pragma once

#include <optional>

#include "alerts/store.h"

namespace outcomed::testing {

class FailingStore final : public Store {
 public:
  explicit FailingStore(Store& real) : real_(real) {}
  std::optional<Error> failing;

  Status commit(const TickRecord& record) override {
    if (failing) return *failing;
    return real_.commit(record);
  }

  Result<std::vector<SourceRow>> sources() override { return real_.sources(); }
  Result<std::vector<CellRow>> cells() override { return real_.cells(); }
  Result<std::vector<BucketRow>> buckets(const std::string& signal, TimeRange range) override {
    return real_.buckets(signal, range);
  }
  Result<std::vector<SnapshotRow>> snapshots() override { return real_.snapshots(); }
  Result<std::vector<AlertState>> alerts() override { return real_.alerts(); }
  Result<std::vector<Episode>> current_episodes(Timestamp since) override {
    return real_.current_episodes(since);
  }
  Result<std::vector<Episode>> episodes(const EpisodeFilter& f) override {
    return real_.episodes(f);
  }
  Result<std::optional<Episode>> episode(const std::string& id) override {
    return real_.episode(id);
  }
  Result<std::vector<OutboxRow>> queued(const std::string& receiver) override {
    return real_.queued(receiver);
  }
  Result<std::vector<OutboxRow>> deliveries(const std::string& episode) override {
    return real_.deliveries(episode);
  }
  Status settle(const std::vector<OutboxRow>& rows) override { return real_.settle(rows); }
  Status remember_config(const std::string& hash, const std::string& text, Timestamp now) override {
    return real_.remember_config(hash, text, now);
  }
  Result<std::optional<std::string>> last_config() override { return real_.last_config(); }
  Status prune(Timestamp now) override { return real_.prune(now); }

 private:
  Store& real_;
};

}  // namespace outcomed::testing
