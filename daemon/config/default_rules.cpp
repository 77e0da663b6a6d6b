#include "daemon/config/default_rules.h"

namespace outcomed {

std::string_view default_rules_text() {
  return R"yaml(# The built-in rules, used where the configuration has no `rules:`.
rules:
  # The whole gateway: the classic rule.
  - name: gateway_failures
    kind: share
    signal: requests
    above: 10%
    window: 1h
    for: 15m
    min_failures: 11
    severity: page

  # One model failing more than it ever does: found within minutes, with a budget of false pages. The
  # rules with lines below are the readable backstop.
  - name: fast_failures
    kind: surge
    signal: requests
    by: [model]
    false_page_every: 90d
    min_share: 5%
    severity: page

  # One model failing in one way.
  - name: model_failures
    kind: share
    signal: requests
    by: [model, error_class]
    tiers:
      - {above: 5%, for: 15m, severity: ticket}
      - {above: 30%, for: 5m, severity: page}
    window: 1h
    min_requests: 20
    min_failures: 5
    resolve_below: 4%
    keep_firing_for: 5m

  # Answers that came only through a fallback: the reserve is in use.
  - name: fallback_share
    kind: share
    signal: fallbacks
    by: [model]
    above: 5%
    window: 1h
    for: 15m
    min_requests: 20
    min_failures: 5
    severity: ticket

  # Errors of callers are not failures of the gateway, but a rise of them is news: a client that was
  # released broken, a changed limit, a renamed model.
  - name: caller_errors
    kind: share
    signal: requests
    by: [model, error_class]
    matchers: ['error_class=~"invalid_request|policy_rejection"']
    above: 30%
    window: 1h
    for: 15m
    min_requests: 20
    min_failures: 10
    severity: ticket

  # Requests that ended with the provider's 429.
  - name: rate_limited
    kind: share
    signal: requests
    by: [model]
    matchers: ['error_class="rate_limited"']
    tiers:
      - {above: 5%, for: 15m, severity: info}
      - {above: 15%, for: 10m, severity: ticket}
      - {above: 30%, for: 5m, severity: page}
    window: 1h
    min_requests: 20
    min_failures: 5
    resolve_below: 4%

  # Data of a private group went to another group or to a foreign address: the first request pages.
  - name: private_data_left
    kind: share
    signal: leaks
    by: [model, served_by, way]
    above: 0%
    window: 15m
    keep_firing_for: 1h
    severity: page

  # With metrics and rows both, the metrics page and the rows say which requests it were.
  - name: private_requests_left
    kind: share
    signal: leaks_by_rows
    by: [model, served_by, way]
    above: 0%
    window: 15m
    keep_firing_for: 1h
    severity: ticket

  # Consumers of the preset's `no_reasoning` that got reasoning tokens all the same.
  - name: unwanted_reasoning
    kind: share
    signal: unwanted_reasoning
    by: [consumer, model]
    above: 0%
    window: 1d
    severity: ticket

  # Money is counted in thousand-millionths: these two begin at 1.00 a day.
  - name: probe_spend
    kind: share
    signal: probe_spend
    above: 2%
    window: 1d
    min_failures: 1000000000
    resolve_below: 1%
    severity: ticket
  - name: wasted_spend
    kind: share
    signal: wasted_spend
    by: [model]
    above: 10%
    window: 1d
    min_failures: 1000000000
    resolve_below: 8%
    severity: ticket

  # A request that succeeds costs twice what it did: failures that are paid, longer answers, another
  # price.
  - name: cost_per_success
    kind: price
    signal: spend
    by: [model]
    against_prices: false
    dearer: 100%
    window: 1d
    min_requests: 100
    severity: ticket

  # Whose failures these are: the provider's, or the gateway's own.
  - name: whose_failures
    kind: absorption
    signal: absorption
    by: [model]
    for: 5m
    severity: ticket

  # What the provider does to the gateway's attempts, whether or not consumers notice.
  - name: provider_errors
    kind: share
    signal: provider
    by: [model, provider]
    matchers: ['error_class="provider_unavailable"']
    above: 4%
    window: 1h
    for: 15m
    min_requests: 20
    min_failures: 5
    severity: ticket
  - name: provider_timeouts
    kind: share
    signal: provider
    by: [model, provider]
    matchers: ['error_class="deadline_exceeded"']
    above: 2%
    window: 1h
    for: 15m
    min_requests: 20
    min_failures: 5
    severity: ticket
)yaml";
}

}  // namespace outcomed
