// LiteLLM's exception names and statuses -> our error classes. Sources: reference tables of the
// gateway's own exceptions and what four versions were seen to write; the class decides, the status
// only where the class says nothing (refusals carry status "None" or 429, by version).
#pragma once

#include <string_view>

namespace outcomed::litellm {

// "Openai.RateLimitError" and "429" -> rate_limited. A provider prefix tells the provider's limits
// from the gateway's own.
std::string_view classify(std::string_view exception_class, std::string_view exception_status);

// Why the router refused, for classes that are refusals; empty for all others:
// cooldown, deployment_cap, key_limit, budget, routing.
std::string_view refusal_cause(std::string_view exception_class, std::string_view exception_status);

// Whether a provider was asked and failed. Only what has a provider's prefix: the gateway's own
// refusals, unknown models, guardrails and bugs never left it, whichever deployment they are booked
// on.
bool reached_provider(std::string_view exception_class, std::string_view exception_status);

}  // namespace outcomed::litellm
