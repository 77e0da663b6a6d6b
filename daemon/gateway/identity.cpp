#include "daemon/gateway/identity.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "daemon/config/words.h"
#include "daemon/gateway/names.h"
#include "queries/base/ascii.h"
#include "queries/base/private_hosts.h"

namespace outcomed {
namespace {

constexpr std::array<std::string_view, 12> kProtocols = {
    "openai", "openai_like", "custom_openai", "text-completion-openai", "vllm",      "hosted_vllm",
    "ollama", "ollama_chat", "lm_studio",     "litellm_proxy",          "llamafile", "oobabooga"};

constexpr std::array<std::string_view, 7> kAccountSettings = {
    "organization",      "vertex_project", "vertex_credentials", "aws_profile_name",
    "aws_access_key_id", "aws_role_name",  "tenant_id"};

// Models without a prefix whose name tells the provider, as the gateway infers it.
std::string_view provider_by_name(std::string_view model) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kBeginnings = {
      {{"gpt-", "openai"},
       {"o1", "openai"},
       {"o3", "openai"},
       {"o4", "openai"},
       {"chatgpt-", "openai"},
       {"text-embedding-", "openai"},
       {"claude", "anthropic"},
       {"gemini", "vertex_ai"},
       {"command-", "cohere"}}};
  for (const auto& [beginning, provider] : kBeginnings) {
    if (model.starts_with(beginning)) return provider;
  }
  return {};
}

std::string prefix_of(const GatewayDeployment& deployment) {
  if (const GatewayValue* named = value_at(deployment.params, "custom_llm_provider")) {
    return lower_case(named->text);
  }
  const std::string_view prefix = provider_prefix(deployment.model);
  return prefix.empty() ? std::string(provider_by_name(deployment.model)) : lower_case(prefix);
}

// Servers without authentication get "x", "none" or "EMPTY": no account stands behind that.
bool is_real_key(std::string_view key) {
  if (environment_name(key)) return true;
  const std::string word = fold_word(key);
  return key.size() >= 12 && word.find("nokey") == std::string::npos &&
         word.find("dummy") == std::string::npos && word.find("notneeded") == std::string::npos;
}

std::string key_text(std::string_view key) {
  return environment_name(key) ? "the key " + std::string(key) : std::string("the same api_key");
}

}  // namespace

bool is_protocol_prefix(std::string_view prefix) {
  return std::ranges::find(kProtocols, prefix) != kProtocols.end();
}

std::string provider_of(const GatewayDeployment& deployment) {
  std::string prefix = prefix_of(deployment);
  const GatewayValue* address = deployment.address();
  if (!address || !(prefix.empty() || is_protocol_prefix(prefix))) return prefix;
  return url_host(address->text).value_or(address->text);
}

std::string priced_model(const GatewayDeployment& deployment) {
  const GatewayValue* base = value_at(deployment.info, "base_model");
  if (!base) base = value_at(deployment.params, "base_model");
  return lower_case(base ? base->text : deployment.model);
}

SharedFate shared_fate(const GatewayDeployment& a, const GatewayDeployment& b) {
  const GatewayValue* key_a = value_at(a.params, "api_key");
  const GatewayValue* key_b = value_at(b.params, "api_key");
  if (key_a && key_b && key_a->text == key_b->text && is_real_key(key_a->text)) {
    return {SharedFate::Kind::key, key_text(key_a->text)};
  }
  const std::string provider = provider_of(a);
  if (provider.empty() || provider != provider_of(b)) return {};
  for (const std::string_view setting : kAccountSettings) {
    const GatewayValue* mine = value_at(a.params, setting);
    const GatewayValue* other = value_at(b.params, setting);
    if (mine && other && mine->text == other->text) {
      return {SharedFate::Kind::account, fmt::format("the account ({})", setting)};
    }
  }
  const GatewayValue* address_a = a.address();
  const GatewayValue* address_b = b.address();
  if (provider == "azure" && address_a && address_b &&
      url_host(address_a->text) == url_host(address_b->text)) {
    return {SharedFate::Kind::account,
            "the resource " + shown(url_host(address_a->text).value_or("in api_base"))};
  }
  if (!key_a && !key_b && !address_a && !address_b) {
    return {SharedFate::Kind::key,
            fmt::format("the key of {} in the environment", shown(provider))};
  }
  return {SharedFate::Kind::provider, "the provider " + shown(provider)};
}

}  // namespace outcomed
