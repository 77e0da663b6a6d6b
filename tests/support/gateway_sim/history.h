// A simulated gateway's counters over time, written as OpenMetrics text for backfilling.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "queries/recording/sample_store.h"
#include "tests/support/gateway_sim/gateway.h"

namespace outcomed::sim {

// Keeps every value but histogram buckets, a few bytes a sample, as a server that scrapes the
// gateway under job="litellm", instance="127.0.0.1:4000" would.
class History {
 public:
  // `only`: parts of metric names to keep; empty keeps all.
  explicit History(std::vector<std::string> only = {}) : only_(std::move(only)) {}

  // Notes the gateway's values as scraped at this time, and `up`: a gateway that is down is a gap.
  void scrape(Gateway& gateway, std::int64_t unix_ms);

  // Family by family, series by series, in time order, with "# EOF": what
  // `promtool tsdb create-blocks-from openmetrics` reads. `take` gets pieces of about 1 MiB.
  void write(const std::function<void(std::string_view)>& take) const;

  [[nodiscard]] std::size_t samples() const { return samples_; }
  [[nodiscard]] std::size_t series() const { return columns_.size(); }

 private:
  struct Column {
    std::size_t family = 0;
    MetricPage::Part part = MetricPage::Part::total;
    std::string labels;
    SampleColumn samples;
  };

  std::uint32_t column_of(const std::string& labels, std::size_t family, MetricPage::Part part);
  [[nodiscard]] bool wanted(std::string_view name) const;
  void write_column(const Column& column, std::string& out,
                    const std::function<void(std::string_view)>& take) const;

  std::vector<std::string> only_;
  std::vector<Column> columns_;
  std::unordered_map<std::string, std::uint32_t> places_;
  SampleColumn process_start_;
  SampleColumn up_;
  std::size_t samples_ = 0;
};

}  // namespace outcomed::sim
