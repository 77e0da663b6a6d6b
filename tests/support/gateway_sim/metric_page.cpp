#include "tests/support/gateway_sim/metric_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "tests/support/gateway_sim/number.h"

namespace outcomed::sim {
namespace {

using Kind = MetricPage::Kind;

// Labels in the order in which they are printed. Before a colon, who has them: o versions with
// organisations, p with the provider everywhere, g with model groups.
constexpr std::string_view kLatencyLabels =
    "api_key_alias p:api_provider end_user hashed_api_key model g:model_group model_id o:org_alias "
    "o:org_id requested_model g:service_tier team team_alias user";
constexpr std::string_view kTokenLabels =
    "api_key_alias p:api_provider end_user hashed_api_key model model_id o:org_alias o:org_id "
    "requested_model team team_alias user user_email";
constexpr std::string_view kTokenKindLabels =
    "api_key_alias p:api_provider end_user hashed_api_key model model_id requested_model team "
    "team_alias user user_email";
constexpr std::string_view kDeploymentLabels =
    "api_base api_key_alias api_provider client_ip hashed_api_key litellm_model_name g:model_group "
    "model_id requested_model team team_alias user_agent";
constexpr std::string_view kFallbackLabels =
    "api_key_alias exception_class exception_status fallback_model hashed_api_key model_id "
    "requested_model team team_alias";

struct Description {
  std::string_view name;
  Kind kind;
  std::string_view help;
  std::string_view labels;
};

constexpr Description kDescriptions[] = {
    {"litellm_proxy_failed_requests_metric", Kind::counter,
     "Total number of failed responses from proxy - the client did not get a success response from "
     "litellm proxy",
     "api_key_alias p:api_provider client_ip end_user exception_class exception_status "
     "hashed_api_key model_id o:org_alias o:org_id requested_model route team team_alias user "
     "user_agent user_email"},
    {"litellm_proxy_total_requests_metric", Kind::counter,
     "Total number of requests made to the proxy server - track number of client side requests",
     "api_key_alias p:api_provider client_ip end_user hashed_api_key model_id o:org_alias o:org_id "
     "requested_model route status_code team team_alias user user_agent user_email"},
    {"litellm_request_total_latency_metric", Kind::histogram,
     "Total latency (seconds) for a request to LiteLLM", kLatencyLabels},
    {"litellm_llm_api_latency_metric", Kind::histogram,
     "Total latency (seconds) for a models LLM API call", kLatencyLabels},
    {"litellm_llm_api_time_to_first_token_metric", Kind::histogram,
     "Time to first token for a models LLM API call", kLatencyLabels},
    {"litellm_spend_metric", Kind::counter, "Total spend on LLM requests",
     "api_key_alias p:api_provider client_ip end_user hashed_api_key model model_id o:org_alias "
     "o:org_id p:requested_model g:service_tier team team_alias user user_agent user_email"},
    {"litellm_total_tokens_metric", Kind::counter,
     "Total number of input + output tokens from LLM requests", kTokenLabels},
    {"litellm_input_tokens_metric", Kind::counter, "Total number of input tokens from LLM requests",
     kTokenLabels},
    {"litellm_output_tokens_metric", Kind::counter,
     "Total number of output tokens from LLM requests", kTokenLabels},
    {"litellm_input_cached_tokens_metric", Kind::counter, "Provider-side cached input tokens",
     kTokenKindLabels},
    {"litellm_output_reasoning_tokens_metric", Kind::counter,
     "Reasoning tokens reported in completion_tokens_details.reasoning_tokens", kTokenKindLabels},
    {"litellm_deployment_state", Kind::gauge,
     "LLM Deployment Analytics - The state of the deployment: 0 = healthy, 1 = partial outage, 2 = "
     "complete outage",
     "api_base api_provider litellm_model_name model_id"},
    {"litellm_deployment_cooled_down", Kind::counter,
     "LLM Deployment Analytics - Number of times a deployment has been cooled down by LiteLLM load "
     "balancing logic. exception_status is the status of the exception that caused the deployment "
     "to be cooled down",
     "api_base api_provider exception_status litellm_model_name model_id"},
    {"litellm_deployment_success_responses", Kind::counter,
     "LLM Deployment Analytics - Total number of successful LLM API calls via litellm",
     kDeploymentLabels},
    {"litellm_deployment_failure_responses", Kind::counter,
     "LLM Deployment Analytics - Total number of failed LLM API calls for a specific LLM "
     "deploymeny. exception_status is the status of the exception from the llm api",
     "api_base api_key_alias api_provider client_ip exception_class exception_status "
     "hashed_api_key litellm_model_name g:model_group model_id requested_model team team_alias "
     "user_agent"},
    {"litellm_deployment_total_requests", Kind::counter,
     "LLM Deployment Analytics - Total number of LLM API calls via litellm - success + failure",
     kDeploymentLabels},
    {"litellm_deployment_successful_fallbacks", Kind::counter,
     "LLM Deployment Analytics - Number of successful fallback requests from primary model -> "
     "fallback model",
     kFallbackLabels},
    {"litellm_deployment_failed_fallbacks", Kind::counter,
     "LLM Deployment Analytics - Number of failed fallback requests from primary model -> fallback "
     "model",
     kFallbackLabels},
    {"litellm_llm_api_failed_requests_metric", Kind::counter,
     "deprecated - use litellm_proxy_failed_requests_metric",
     "api_key_alias end_user hashed_api_key model model_id team team_alias user"},
    {"litellm_requests_metric", Kind::counter,
     "deprecated - use litellm_proxy_total_requests_metric. Total number of LLM calls to litellm - "
     "track total per API Key, team, user",
     "api_key_alias p:api_provider client_ip end_user hashed_api_key model model_id o:org_alias "
     "o:org_id p:requested_model team team_alias user user_agent user_email"},
};
static_assert(std::size(kDescriptions) == kFamilies);

std::string_view value_of(std::string_view label, const LabelValues& values) {
  if (label == "requested_model") return values.requested_model;
  if (label == "model_group") return values.group;
  if (label == "model" || label == "litellm_model_name") return values.provider_model;
  if (label == "model_id") return values.model_id;
  if (label == "api_base") return values.api_base;
  if (label == "api_provider") return values.api_provider;
  if (label == "exception_class") return values.exception_class;
  if (label == "exception_status") return values.exception_status;
  if (label == "status_code") return values.status_code;
  if (label == "fallback_model") return values.fallback_model;
  if (label == "hashed_api_key") return values.hashed_key;
  if (label == "route") return values.route;
  if (label == "client_ip") return "127.0.0.1";
  if (label == "user") return "default_user_id";
  if (label == "user_agent") return "python-httpx/0.27.0";
  return "None";  // Python's None, printed.
}

void append_label(std::string& out, std::string_view name, std::string_view value) {
  if (!out.empty()) out += ',';
  out += name;
  out += "=\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_line(std::string& out, std::string_view name, std::string_view suffix,
                 std::string_view labels, double value) {
  out += name;
  out += suffix;
  if (!labels.empty()) {
    out += '{';
    out += labels;
    out += '}';
  }
  out += ' ';
  append_number(out, value);
  out += '\n';
}

void append_head(std::string& out, std::string_view name, std::string_view type,
                 std::string_view help) {
  fmt::format_to(std::back_inserter(out), "# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

// The client library's own metrics; their values don't matter, but that they are there.
void append_process(std::string& out, bool openmetrics, const ProcessFacts& process) {
  append_head(out, "python_info", "gauge", "Python platform information");
  out +=
      "python_info{implementation=\"CPython\",major=\"3\",minor=\"11\",patchlevel=\"7\","
      "version=\"3.11.7\"} 1.0\n";
  const auto gauge = [&](std::string_view name, std::string_view help, double value) {
    append_head(out, name, "gauge", help);
    append_line(out, name, "", "", value);
  };
  gauge("process_resident_memory_bytes", "Resident memory size in bytes.", 310521856);
  gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
        process.start);
  append_head(out, openmetrics ? "process_cpu_seconds" : "process_cpu_seconds_total", "counter",
              "Total user and system CPU time spent in seconds.");
  append_line(out, "process_cpu_seconds_total", "", "", process.cpu_seconds);
  gauge("process_open_fds", "Number of open file descriptors.", 20);
}

}  // namespace

std::string_view MetricPage::name_of(std::size_t family) { return kDescriptions[family].name; }
std::string_view MetricPage::help_of(std::size_t family) { return kDescriptions[family].help; }
Kind MetricPage::kind_of(std::size_t family) { return kDescriptions[family].kind; }

std::string_view MetricPage::suffix_of(Part part) {
  switch (part) {
    case Part::total:
      return "_total";
    case Part::created:
      return "_created";
    case Part::count:
      return "_count";
    case Part::sum:
      return "_sum";
    case Part::gauge:
      return "";
  }
  return "";
}

MetricPage::MetricPage(const VersionTraits& traits) : buckets_(traits.buckets) {
  for (const std::string_view bucket : buckets_) {
    double bound = 0;
    std::from_chars(bucket.data(), bucket.data() + bucket.size(), bound);
    bounds_.push_back(bound);
  }
  for (std::size_t i = 0; i < kFamilies; ++i) {
    kinds_[i] = kDescriptions[i].kind;
    const auto family = static_cast<Family>(i);
    const bool new_one = family == Family::cached_tokens || family == Family::reasoning_tokens;
    shown_[i] = !new_one || traits.token_kinds;
    for (std::string_view rest = kDescriptions[i].labels; !rest.empty();) {
      std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(word.size() + 1, rest.size()));
      bool present = true;
      if (word.size() > 2 && word[1] == ':') {
        present = word[0] == 'o'   ? traits.org_labels
                  : word[0] == 'p' ? traits.api_provider
                                   : traits.group_label;
        word.remove_prefix(2);
      }
      if (present) label_names_[i].push_back(word);
    }
  }
}

void MetricPage::render_labels(Family family, const LabelValues& values, std::string& out,
                               std::size_t* le_at) const {
  out.clear();
  for (const std::string_view name : label_names_[static_cast<std::size_t>(family)]) {
    append_label(out, name, value_of(name, values));
    if (le_at != nullptr && name < "le") *le_at = out.size() + 1;  // Behind the comma.
  }
}

Series& MetricPage::series(Family family, const LabelValues& values, double now) {
  Content& content = families_[static_cast<std::size_t>(family)];
  render_labels(family, values, scratch_, nullptr);
  const auto [found, fresh] = content.places.try_emplace(scratch_, content.series.size());
  if (fresh) content.series.push_back({scratch_, 0, now, {kNoColumn, kNoColumn}});
  return content.series[found->second];
}

Histogram& MetricPage::histogram(Family family, const LabelValues& values, double now) {
  Content& content = families_[static_cast<std::size_t>(family)];
  std::size_t le_at = 0;
  render_labels(family, values, scratch_, &le_at);
  const auto [found, fresh] = content.places.try_emplace(scratch_, content.histograms.size());
  if (fresh) {
    Histogram& made = content.histograms.emplace_back();
    made.labels = scratch_;
    made.le_at = le_at;
    made.counts.resize(bounds_.size() + 1);
    made.created = now;
  }
  return content.histograms[found->second];
}

void MetricPage::observe(Histogram& histogram, double seconds) const {
  const auto bound = std::ranges::lower_bound(bounds_, seconds);
  ++histogram.counts[static_cast<std::size_t>(bound - bounds_.begin())];
  ++histogram.count;
  histogram.sum += seconds;
}

void MetricPage::clear() {
  for (Content& content : families_) content = Content();
}

void MetricPage::write_series(std::string& out, std::size_t family, bool openmetrics) const {
  const Description& about = kDescriptions[family];
  const Content& content = families_[family];
  if (about.kind == Kind::gauge) {
    append_head(out, about.name, "gauge", about.help);
    for (const Series& s : content.series) append_line(out, about.name, "", s.labels, s.value);
    return;
  }
  // OpenMetrics names the family without "_total" and keeps births inside of it.
  append_head(out, fmt::format("{}{}", about.name, openmetrics ? "" : "_total"), "counter",
              about.help);
  for (const Series& s : content.series) {
    append_line(out, about.name, "_total", s.labels, s.value);
    if (openmetrics) append_line(out, about.name, "_created", s.labels, s.created);
  }
  if (openmetrics || content.series.empty()) return;
  append_head(out, fmt::format("{}_created", about.name), "gauge", about.help);
  for (const Series& s : content.series) {
    append_line(out, about.name, "_created", s.labels, s.created);
  }
}

void MetricPage::write_histogram(std::string& out, std::size_t family, bool openmetrics) const {
  const Description& about = kDescriptions[family];
  const Content& content = families_[family];
  append_head(out, about.name, "histogram", about.help);
  for (const Histogram& h : content.histograms) {
    const std::string before = h.labels.substr(0, h.le_at);
    const std::string after = h.labels.substr(h.le_at);
    std::uint64_t below = 0;
    for (std::size_t i = 0; i <= buckets_.size(); ++i) {
      below += h.counts[i];
      fmt::format_to(std::back_inserter(out), "{}_bucket{{{}le=\"{}\",{}}} ", about.name, before,
                     i < buckets_.size() ? buckets_[i] : "+Inf", after);
      append_number(out, static_cast<double>(below));
      out += '\n';
    }
    append_line(out, about.name, "_count", h.labels, static_cast<double>(h.count));
    append_line(out, about.name, "_sum", h.labels, h.sum);
    if (openmetrics) append_line(out, about.name, "_created", h.labels, h.created);
  }
  if (openmetrics || content.histograms.empty()) return;
  append_head(out, fmt::format("{}_created", about.name), "gauge", about.help);
  for (const Histogram& h : content.histograms) {
    append_line(out, about.name, "_created", h.labels, h.created);
  }
}

void MetricPage::write(std::string& out, bool openmetrics, const ProcessFacts& process) const {
  append_process(out, openmetrics, process);
  for (std::size_t i = 0; i < kFamilies; ++i) {
    if (!shown_[i]) continue;
    if (kDescriptions[i].kind == Kind::histogram) {
      write_histogram(out, i, openmetrics);
    } else {
      write_series(out, i, openmetrics);
    }
  }
  if (openmetrics) out += "# EOF\n";
}

}  // namespace outcomed::sim
