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
