#include "queries/prometheus/settings.h"

#include <algorithm>
#include <array>
#include <utility>

namespace outcomed {
namespace {

constexpr std::array<std::pair<std::string_view, BackfillWay>, 4> kWays{{
    {"auto", BackfillWay::automatic},
    {"remote_read", BackfillWay::remote_read},
    {"export", BackfillWay::export_lines},
    {"range", BackfillWay::range},
}};
constexpr Duration kShortestTimeout = 100ms;
constexpr std::int64_t kFewestBytes = 64 * 1024;

}  // namespace

void PrometheusSettings::visit(ParamVisitor& visitor) {
  visitor.url("url", url,
              "Address of the server, with its path prefix where it has one: what stands before "
              "/api/v1/query.");
  access.visit(visitor);
  visitor.duration("timeout", timeout, "Longest wait for one answer; shorter than a step.");
  visitor.duration(
      "lookback", lookback,
      "How far before a range counters are read after a start, to know where they stood.");
  visitor.matchers("matchers", matchers,
                   "Label matchers added to every query, such as job=\"litellm\".");
  visitor.size("max_bytes", max_bytes, "Largest answer that is read, unpacked.");
  visitor.flag("accept_partial", accept_partial,
               "Count answers of which the server says itself that data is missing.");
  visitor.text("backfill", backfill,
               "How long ranges are read: auto, remote_read (Prometheus), export (VictoriaMetrics) "
               "or range (range selectors, everywhere).");

  if (url.empty()) {
    visitor.problem("url", "is missing", "write the server's address: http://127.0.0.1:9090");
  }
  if (url.find_first_of("?#") != std::string::npos) {
    visitor.problem("url", "the address has a query or a fragment",
                    "give scheme, host and path prefix only: http://127.0.0.1:9090");
  }
  if (timeout < kShortestTimeout) {
    visitor.problem("timeout", "no answer can come in so short a time", "10s is the default");
  }
  if (lookback < 0ms)
    visitor.problem("lookback", "a time span can't be negative", "5m is the default");
  if (max_bytes < kFewestBytes) {
    visitor.problem("max_bytes", "smaller than one usual answer", "256MiB is the default");
  }
  if (std::ranges::any_of(matchers, [](const Matcher& m) { return m.name() == "__name__"; })) {
    visitor.problem("matchers", "metric names come from the signals",
                    "match other labels: job=\"litellm\"");
  }
  if (std::ranges::find(kWays, backfill, &std::pair<std::string_view, BackfillWay>::first) ==
      kWays.end()) {
    visitor.problem("backfill", "unknown way: " + backfill.substr(0, 40),
                    "one of auto, remote_read, export, range");
  }
}

BackfillWay PrometheusSettings::backfill_way() const {
  for (const auto& [name, way] : kWays) {
    if (name == backfill) return way;
  }
  return BackfillWay::automatic;
}

}  // namespace outcomed
