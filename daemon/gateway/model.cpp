#include "daemon/gateway/model.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "daemon/gateway/names.h"
#include "queries/base/ascii.h"
#include "queries/base/glob.h"

namespace outcomed {
namespace {

// Prefixes under which the gateway also finds the fallbacks of the bare name, of its provider list.
constexpr std::array<std::string_view, 24> kStrippedProviders = {
    "openai",   "azure",       "anthropic", "bedrock",       "vertex_ai",   "gemini",
    "deepseek", "mistral",     "groq",      "openrouter",    "together_ai", "fireworks_ai",
    "ollama",   "ollama_chat", "vllm",      "hosted_vllm",   "huggingface", "xai",
    "cohere",   "perplexity",  "azure_ai",  "litellm_proxy", "lm_studio",   "nvidia_nim"};

bool is_stripped_name(std::string_view group, std::string_view key) {
  return std::ranges::find(kStrippedProviders, provider_prefix(group)) !=
             kStrippedProviders.end() &&
         without_prefix(group) == key;
}

}  // namespace

const GatewayValue* value_at(const GatewayValues& values, std::string_view key) {
  const auto found = values.find(key);
  return found == values.end() ? nullptr : &found->second;
}

std::optional<double> as_number(const GatewayValue& value) {
  std::string text;
  for (const char c : value.text) {
    if (c != '_') text += c;
  }
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  double number = 0;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

std::optional<bool> as_flag(const GatewayValue& value) {
  const std::string word = lower_case(value.text);
  if (word == "true" || word == "yes" || word == "on" || word == "1") return true;
  if (word == "false" || word == "no" || word == "off" || word == "0") return false;
  return std::nullopt;
}

std::optional<double> number_at(const GatewayValues& values, std::string_view key) {
  const GatewayValue* value = value_at(values, key);
  return value ? as_number(*value) : std::nullopt;
}

std::optional<bool> flag_at(const GatewayValues& values, std::string_view key) {
  const GatewayValue* value = value_at(values, key);
  return value ? as_flag(*value) : std::nullopt;
}

const GatewayValue* GatewayDeployment::setting(std::string_view key) const {
  const GatewayValue* value = value_at(params, key);
  return value ? value : value_at(info, key);
}

const GatewayValue* GatewayDeployment::address() const {
  const GatewayValue* value = value_at(params, "api_base");
  return value ? value : value_at(params, "base_url");
}

std::string_view setting_name(FallbackKind kind) {
  switch (kind) {
    case FallbackKind::general:
      return "fallbacks";
    case FallbackKind::by_default:
      return "default_fallbacks";
    case FallbackKind::context_window:
      return "context_window_fallbacks";
    case FallbackKind::content_policy:
      break;
  }
  return "content_policy_fallbacks";
}

const GatewayValue* GatewayConfig::router_or_litellm(std::string_view key) const {
  const GatewayValue* value = value_at(router, key);
  return value ? value : value_at(litellm, key);
}

std::vector<const GatewayDeployment*> GatewayConfig::group(std::string_view name) const {
  std::vector<const GatewayDeployment*> members;
  for (const GatewayDeployment& deployment : deployments) {
    if (deployment.group.text == name) members.push_back(&deployment);
  }
  return members;
}

std::vector<const GatewayDeployment*> GatewayConfig::serving(std::string_view name) const {
  const auto alias = std::ranges::find(aliases, name, &GatewayAlias::name);
  if (alias != aliases.end()) return group(alias->target);
  std::vector<const GatewayDeployment*> members = group(name);
  if (!members.empty()) return members;
  for (const GatewayDeployment& deployment : deployments) {
    const std::string& pattern = deployment.group.text;
    if (pattern.find('*') != std::string::npos && glob_matches(pattern, name)) {
      members.push_back(&deployment);
    }
  }
  return members;
}

const GatewayFallback* GatewayConfig::fallback_of(std::string_view name) const {
  const GatewayFallback* stripped = nullptr;
  const GatewayFallback* any = nullptr;
  for (const GatewayFallback& fallback : fallbacks) {
    if (fallback.kind != FallbackKind::general && fallback.kind != FallbackKind::by_default) {
      continue;
    }
    if (fallback.from == name) return &fallback;
    if (is_stripped_name(name, fallback.from)) {
      stripped = &fallback;
    } else if (fallback.from == "*") {
      any = &fallback;
    }
  }
  return stripped ? stripped : any;
}

}  // namespace outcomed
