// A store that keeps nothing: for backtests and one-off questions.
#pragma once

#include "alerts/store.h"

namespace outcomed {

class NullStore final : public Store {
 public:
  Result<std::vector<SourceRow>> sources() override { return std::vector<SourceRow>{}; }
  Result<std::vector<CellRow>> cells() override { return std::vector<CellRow>{}; }
  Result<std::vector<BucketRow>> buckets(const std::string&, TimeRange) override {
    return std::vector<BucketRow>{};
  }
  Result<std::vector<SnapshotRow>> snapshots() override { return std::vector<SnapshotRow>{}; }
  Result<std::vector<AlertState>> alerts() override { return std::vector<AlertState>{}; }
  Status commit(const TickRecord&) override { return ok(); }
  Result<std::vector<Episode>> current_episodes(Timestamp) override {
    return std::vector<Episode>{};
  }
  Result<std::vector<Episode>> episodes(const EpisodeFilter&) override {
    return std::vector<Episode>{};
  }
  Result<std::optional<Episode>> episode(const std::string&) override {
    return std::optional<Episode>{};
  }
  Result<std::vector<OutboxRow>> queued(const std::string&) override {
    return std::vector<OutboxRow>{};
  }
  Result<std::vector<OutboxRow>> deliveries(const std::string&) override {
    return std::vector<OutboxRow>{};
  }
  Status settle(const std::vector<OutboxRow>&) override { return ok(); }
  Status remember_config(const std::string&, const std::string&, Timestamp) override {
    return ok();
  }
  Result<std::optional<std::string>> last_config() override { return std::optional<std::string>{}; }
  Status prune(Timestamp) override { return ok(); }
};

}  // namespace outcomed
