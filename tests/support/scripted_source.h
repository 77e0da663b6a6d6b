// A source whose minutes a test writes down: counts by minute, gaps, errors.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "queries/source.h"

namespace outcomed::testing {

class ScriptedSource final : public Source {
 public:
  // One signal with labels {model} and failure labels {error_class}.
  static SignalPlan plan(std::string name = "requests", Duration step = std::chrono::minutes(1)) {
    SignalPlan plan;
    plan.name = std::move(name);
    plan.source = "script";
    plan.step = step;
    plan.labels = {"model"};
    plan.failure_labels = {"error_class"};
    return plan;
  }

  struct Counts {
    std::int64_t n = 0;
    std::int64_t k = 0;
  };
  void put(Timestamp minute, const std::string& model, std::int64_t n, std::int64_t k,
           const std::string& error_class = "router_refusal") {
    minutes_[minute][{model, error_class}] = {n, k};
  }
  void gap(Timestamp minute, Coverage coverage = Coverage::missing) { gaps_[minute] = coverage; }
  void restart() { cells_.clear(); }  // A new process asks the same world.
  std::optional<Error> failing;       // While set every fetch fails with it.
  int fetches = 0;
  bool knows_the_past = true;
  [[nodiscard]] bool has_past() const override { return knows_the_past; }

  Result<Fetch> fetch(TimeRange range) override {
    ++fetches;
    if (failing) return *failing;
    const Duration step = std::chrono::minutes(1);
    SignalBatch batch;
    batch.range = range;
    batch.step = step;
    const auto steps = static_cast<std::size_t>(range.length() / step);
    for (std::size_t i = 0; i < steps; ++i) {
      const auto gap = gaps_.find(range.begin + step * static_cast<int>(i));
      batch.coverage.push_back(gap == gaps_.end() ? Coverage::complete : gap->second);
    }
    for (auto it = minutes_.lower_bound(range.begin); it != minutes_.end() && it->first < range.end;
         ++it) {
      for (const auto& [who, counts] : it->second) {
        cell({{"model", who.first}});
        cell({{"model", who.first}, {"error_class", who.second}});
      }
    }
    batch.n.resize(cells_.size() * steps);
    batch.k.resize(cells_.size() * steps);
    for (auto it = minutes_.lower_bound(range.begin); it != minutes_.end() && it->first < range.end;
         ++it) {
      const auto at = static_cast<std::size_t>((it->first - range.begin) / step);
      for (const auto& [who, counts] : it->second) {
        batch.n[cell({{"model", who.first}}) * steps + at] += counts.n;
        batch.k[cell({{"model", who.first}, {"error_class", who.second}}) * steps + at] += counts.k;
      }
    }
    Fetch fetch;
    fetch.batches.push_back(std::move(batch));
    return fetch;
  }
  [[nodiscard]] const std::vector<Labels>& cells(std::size_t) const override { return cells_; }
  void seed_cells(std::size_t, const std::vector<Labels>& cells) override {
    for (const Labels& labels : cells) cell(labels);
  }
  void save(Writer& writer) const override { writer.u64(7); }
  bool load(Reader& reader) override { return reader.u64() == 7; }

 private:
  std::size_t cell(const Labels& labels) {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (cells_[i] == labels) return i;
    }
    cells_.push_back(labels);
    return cells_.size() - 1;
  }

  std::map<Timestamp, std::map<std::pair<std::string, std::string>, Counts>> minutes_;
  std::map<Timestamp, Coverage> gaps_;
  std::vector<Labels> cells_;
};

}  // namespace outcomed::testing
