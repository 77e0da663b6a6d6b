// What differs between versions of the gateway, as far as its counters go.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "queries/base/result.h"

namespace outcomed::sim {

struct VersionTraits {
  std::string version;
  bool counts_twice = false;       // proxy_failed and unstreamed proxy_total, before 1.81.14.
  bool org_labels = false;         // org_id, org_alias on proxy_*, spend, tokens, latency.
  bool api_provider = false;       // on proxy_*, spend, tokens, latency, requests.
  bool group_label = false;        // model_group on deployment_* and latency; service_tier.
  bool master_key_alias = false;   // hashed_api_key="litellm_proxy_master_key".
  bool collapses_unknown = false;  // requested_model="other" for names that don't exist.
  bool sees_401 = false;           // A provider's 401 is in proxy_failed.
  bool token_kinds = false;        // Cached and reasoning tokens have counters.
  bool rows_name_asked = false;    // Rows name the model asked for, retries and fallbacks.
  bool needs_key = false;          // /metrics answers 401 without one.
  bool counts_refused_scrapes = false;
  std::vector<std::string_view> buckets;  // Upper bounds of latency histograms, as printed.
};

// "1.81.9", "1.106.12" or another version of the form A.B.C.
Result<VersionTraits> traits_of(std::string_view version);

}  // namespace outcomed::sim
