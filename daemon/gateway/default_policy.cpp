#include "daemon/gateway/policy.h"

namespace outcomed {

std::string_view default_policy_text() {
  return R"yaml(# The built-in policy of `outcomed gateway check`. A file of your own needs only what differs.
cooldown:
  longest: 15s      # of one deployment; longer turns a hiccup of the provider into an outage of yours
  min_errors: 3     # errors of a deployment, the one that cools it included (allowed_fails + 1)

retries:
  rate_limit: 1     # a 429 is tried again at least so often
  min_pause: 1s     # and not before this (router_settings.retry_after)

private:
  groups: ["private/*"]           # groups whose data must not leave the house
  domains: []                     # names in these domains are in the house: [corp.example]
  variables: []                   # os.environ/NAME is known to hold an address in the house: [NAME]
  carrier_grade_nat: false        # whether 100.64.0.0/10 is in the house
  fallbacks_among_private: false  # whether one private group may stand in for another

price_tolerance: 1%

quotas:
  models: ["*:free"]
  settings: [rpd, tpd, daily_quota, requests_per_day, tokens_per_day]

# What providers publish, per million tokens:
#   - provider: deepseek
#     currency: USD
#     calendar: {time_zone: UTC, peak: ["mon-fri 00:30-16:30"]}
#     models:
#       deepseek-chat:
#         aliases: ["ds-*"]
#         peak:     {input: 0.27, cached_input: 0.07, output: 1.10}
#         off_peak: {input: 0.135, cached_input: 0.035, output: 0.55}
prices: []

# To switch a check off, or to say how serious it is here:
#   private-client-fallback: {enabled: false, reason: "keys of these clients hold private groups only"}
#   retry-pause: {level: note}
checks: {}
)yaml";
}

}  // namespace outcomed
