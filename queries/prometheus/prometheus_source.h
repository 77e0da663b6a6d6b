// Counters read from a server that speaks Prometheus' query API: Prometheus, VictoriaMetrics,
// Thanos, Mimir. Raw samples are asked for and counted here; no function of the server is used.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "queries/base/http_client.h"
#include "queries/base/result.h"
#include "queries/counters/counter_reader.h"
#include "queries/prometheus/api.h"
#include "queries/prometheus/backfill.h"
#include "queries/prometheus/canonical_keys.h"
#include "queries/prometheus/settings.h"
#include "queries/source.h"

namespace outcomed {

class PrometheusSource final : public Source {
 public:
  // `http` must outlive the source. Error invalid: settings that can't work with these signals.
  static Result<std::unique_ptr<PrometheusSource>> make(PrometheusSettings settings,
                                                        std::vector<SignalPlan> plans,
                                                        HttpClient& http);

  // Ranges of up to 15 minutes are read by range selectors, one request for all counters with the
  // same matchers; longer ones as Backfill says. A range that does not continue the one before (the
  // first after a start) is read from settings.lookback earlier, to know where the counters stood.
  Result<Fetch> fetch(TimeRange range) override;
  [[nodiscard]] const std::vector<Labels>& cells(std::size_t signal) const override;
  void seed_cells(std::size_t signal, const std::vector<Labels>& cells) override;
  void save(Writer& writer) const override;
  bool load(Reader& reader) override;

 private:
  PrometheusSource(PrometheusSettings settings, std::vector<SignalPlan> plans, HttpClient& http);

  void start_reader();
  [[nodiscard]] std::vector<Question> counter_questions() const;
  Result<std::vector<Question>> long_range_questions(TimeRange span);
  Status read(TimeRange range);

  const PrometheusSettings settings_;
  const std::vector<SignalPlan> plans_;
  PrometheusApi api_;
  Backfill backfill_;
  std::map<std::size_t, std::vector<Labels>> seeds_;
  std::unique_ptr<CounterReader> reader_;
  std::unique_ptr<CanonicalKeys> sink_;
  std::optional<Timestamp> read_until_;  // End of the last range counted since the start.
};

}  // namespace outcomed
