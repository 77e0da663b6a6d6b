// The counters of a simulated gateway process and the page it shows: names, labels and order as the
// real gateway's.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tests/support/gateway_sim/version.h"

namespace outcomed::sim {

enum class Family : std::uint8_t {
  proxy_failed,
  proxy_total,
  total_latency,
  api_latency,
  first_token,
  spend,
  total_tokens,
  input_tokens,
  output_tokens,
  cached_tokens,
  reasoning_tokens,
  deployment_state,
  cooled_down,
  deployment_success,
  deployment_failure,
  deployment_total,
  fallback_ok,
  fallback_failed,
  api_failed,
  requests,
};
inline constexpr std::size_t kFamilies = 20;

// Values of the labels that differ between series; each family takes those it has.
struct LabelValues {
  std::string_view requested_model;
  std::string_view group;           // model_group
  std::string_view provider_model;  // model, litellm_model_name
  std::string_view model_id = "None";
  std::string_view api_base;
  std::string_view api_provider = "None";
  std::string_view exception_class;
  std::string_view exception_status;
  std::string_view status_code;
  std::string_view fallback_model;
  std::string_view hashed_key;
  std::string_view route = "/v1/chat/completions";
};

inline constexpr std::uint32_t kNoColumn = ~std::uint32_t{0};

struct Series {
  std::string labels;  // a="…",b="…"
  double value = 0;
  double created = 0;  // Unix seconds.
  // Where a history keeps the value and its birth; not part of the page.
  std::uint32_t columns[2] = {kNoColumn, kNoColumn};
};

struct Histogram {
  std::string labels;                 // Without le.
  std::size_t le_at = 0;              // Where le stands among them.
  std::vector<std::uint64_t> counts;  // One for each bound and +Inf; not cumulated.
  std::uint64_t count = 0;
  double sum = 0;
  double created = 0;
  std::uint32_t columns[3] = {kNoColumn, kNoColumn, kNoColumn};
};

// What the client library tells of the process itself.
struct ProcessFacts {
  double start = 0;  // Unix seconds.
  double cpu_seconds = 0;
};

class MetricPage {
 public:
  explicit MetricPage(const VersionTraits& traits);

  // The series of these labels, made at its first use. References stay valid until clear().
  Series& series(Family family, const LabelValues& values, double now);
  Histogram& histogram(Family family, const LabelValues& values, double now);
  void observe(Histogram& histogram, double seconds) const;
  void clear();  // The process was replaced.

  // Appends the page in the text format 0.0.4, or in OpenMetrics.
  void write(std::string& out, bool openmetrics, const ProcessFacts& process) const;

  // fn(std::uint32_t& column, const std::string& labels, name, double value) for every value but
  // histogram buckets; the name is made of a family's name and a suffix.
  template <class Fn>
  void visit(Fn fn) {
    for (std::size_t i = 0; i < kFamilies; ++i) {
      const Kind kind = kinds_[i];
      for (Series& s : families_[i].series) {
        fn(s.columns[0], s.labels, i, kind == Kind::gauge ? Part::gauge : Part::total, s.value);
        if (kind == Kind::counter) fn(s.columns[1], s.labels, i, Part::created, s.created);
      }
      for (Histogram& h : families_[i].histograms) {
        fn(h.columns[0], h.labels, i, Part::count, static_cast<double>(h.count));
        fn(h.columns[1], h.labels, i, Part::sum, h.sum);
        fn(h.columns[2], h.labels, i, Part::created, h.created);
      }
    }
  }
  enum class Kind : std::uint8_t { counter, gauge, histogram };
  enum class Part : std::uint8_t { total, created, count, sum, gauge };
  // "litellm_spend_metric", kind; suffixes are "_total", "_created", "_count", "_sum", "".
  [[nodiscard]] static std::string_view name_of(std::size_t family);
  [[nodiscard]] static std::string_view help_of(std::size_t family);
  [[nodiscard]] static Kind kind_of(std::size_t family);
  [[nodiscard]] static std::string_view suffix_of(Part part);

 private:
  struct Content {
    std::deque<Series> series;
    std::deque<Histogram> histograms;
    std::unordered_map<std::string, std::size_t> places;
  };
  struct LabelName {
    std::string_view name;
    bool present = true;
  };

  void render_labels(Family family, const LabelValues& values, std::string& out,
                     std::size_t* le_at) const;
  void write_series(std::string& out, std::size_t family, bool openmetrics) const;
  void write_histogram(std::string& out, std::size_t family, bool openmetrics) const;

  std::vector<std::string_view> buckets_;
  std::vector<double> bounds_;
  std::vector<std::string_view> label_names_[kFamilies];
  Kind kinds_[kFamilies];
  bool shown_[kFamilies];  // Whether this version has the family.
  Content families_[kFamilies];
  std::string scratch_;
};

}  // namespace outcomed::sim
