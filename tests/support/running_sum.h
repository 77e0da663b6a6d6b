// A detector that forgets nothing: what it knows can't be read off any window of buckets.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "detectors/detector.h"

namespace outcomed::testing {

// Sums of everything since the beginning, a mean that never ends (its bits depend on every bucket),
// and sums of each member. Breached while the last bucket holds failures.
class RunningSumFold final : public Fold {
 public:
  void advance(const BucketRun& run, std::size_t step) override {
    ++buckets_;
    n_ += run.n[step];
    k_ += run.k[step];
    mean_ = mean_ * 0.999 + static_cast<double>(run.k[step]) / 3;
    last_k_ = run.k[step];
    for (std::size_t i = 0; i < run.members.size(); ++i) {
      members_.at(i).second += run.members[i].n[step];
    }
  }
  void add_member(const Labels& labels) override { members_.emplace_back(labels, 0); }
  [[nodiscard]] bool breached() const override { return last_k_ > 0; }
  [[nodiscard]] Judgement judgement(std::size_t) const override {
    return breached() ? Judgement::breached : Judgement::healthy;
  }
  [[nodiscard]] Timestamp onset() const override { return {}; }
  [[nodiscard]] Verdict verdict(std::size_t) const override {
    Verdict verdict;
    verdict.n = n_;
    verdict.k = k_;
    verdict.measured = mean_;
    for (const auto& [labels, n] : members_) {
      verdict.facts.emplace_back(labels.to_string(), std::to_string(n));
    }
    return verdict;
  }
  [[nodiscard]] bool idle() const override { return false; }
  void save(Writer& writer) const override {
    for (const std::int64_t value : {buckets_, n_, k_, last_k_}) writer.i64(value);
    writer.f64(mean_);
    writer.u64(members_.size());
    for (const auto& [labels, n] : members_) {
      writer.labels(labels);
      writer.i64(n);
    }
  }
  bool load(Reader& reader) override {
    for (std::int64_t* value : {&buckets_, &n_, &k_, &last_k_}) *value = reader.i64();
    mean_ = reader.f64();
    members_.clear();
    for (std::uint64_t left = reader.u64(); left > 0 && reader.ok(); --left) {
      Labels labels = reader.labels();
      members_.emplace_back(std::move(labels), reader.i64());
    }
    return reader.at_end();
  }

 private:
  std::int64_t buckets_ = 0;
  std::int64_t n_ = 0;
  std::int64_t k_ = 0;
  std::int64_t last_k_ = 0;
  double mean_ = 0;
  std::vector<std::pair<Labels, std::int64_t>> members_;
};

class RunningSum final : public Detector {
 public:
  explicit RunningSum(std::vector<std::string> members = {}) : members_(std::move(members)) {}
  [[nodiscard]] std::unique_ptr<Fold> start(const Labels&) const override {
    return std::make_unique<RunningSumFold>();
  }
  [[nodiscard]] const std::vector<Tier>& tiers() const override { return tiers_; }
  [[nodiscard]] std::vector<std::string> member_labels() const override { return members_; }
  [[nodiscard]] Duration reach() const override { return std::chrono::hours(6); }
  [[nodiscard]] Duration patience() const override { return std::chrono::hours(1); }
  [[nodiscard]] bool long_memory() const override { return true; }

 private:
  std::vector<std::string> members_;
  std::vector<Tier> tiers_ = {{"page", {}, 0}};
};

}  // namespace outcomed::testing
