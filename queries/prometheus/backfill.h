// Long ranges: by remote read where the server offers it, by export where it is VictoriaMetrics,
// else by range selectors.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "queries/base/labels.h"
#include "queries/base/result.h"
#include "queries/base/time.h"
#include "queries/counters/samples.h"
#include "queries/prometheus/api.h"
#include "queries/prometheus/question.h"

namespace outcomed {

class Backfill {
 public:
  Backfill(PrometheusApi& api, BackfillWay way) : api_(api), way_(way) {}

  // Sends the samples of `span` to `sink`. `restart` is called before another way is tried: what
  // was appended until then must be forgotten. Which ways the server offers is found out by using
  // them, once; passing faults (server away, timeout) are returned and change nothing.
  Status read(const std::vector<Question>& questions, TimeRange span, SampleSink& sink,
              const std::function<void()>& restart);

 private:
  Status read_remotely(const std::vector<Question>& questions, TimeRange span, SampleSink& sink);
  Status read_export(const std::vector<Question>& questions, TimeRange span, SampleSink& sink);
  Status learn_external_labels(const std::vector<Question>& questions, Timestamp at);

  PrometheusApi& api_;
  BackfillWay way_;
  bool no_remote_read_ = false;
  bool no_export_ = false;
  std::optional<Labels> external_;
};

}  // namespace outcomed
