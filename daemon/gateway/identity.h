// Who stands behind a deployment: what fails together with it.
#pragma once

#include <string>
#include <string_view>

#include "daemon/gateway/model.h"

namespace outcomed {

// Prefixes that name a protocol rather than a provider: who answers is told by the address.
bool is_protocol_prefix(std::string_view prefix);

// "anthropic", "azure"; "api.example.com" or "os.environ/NAME" where the prefix is a protocol and
// the deployment has an address. Empty where nothing tells.
std::string provider_of(const GatewayDeployment& deployment);

// The name that prices go by: base_model where it is set, else the model, in lower case.
std::string priced_model(const GatewayDeployment& deployment);

struct SharedFate {
  enum class Kind { nothing, provider, account, key };
  Kind kind = Kind::nothing;
  std::string what;  // "the key os.environ/OPENAI_KEY"; never a key itself.
};

// The strongest thing that both depend on.
SharedFate shared_fate(const GatewayDeployment& a, const GatewayDeployment& b);

}  // namespace outcomed
