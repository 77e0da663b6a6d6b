#include "tests/support/gateway_sim/models.h"

#include <fmt/core.h>

#include <cctype>

namespace outcomed::sim {
namespace {

constexpr std::string_view kOpenai = "https://api.openai.example/v1";
constexpr std::string_view kLocal = "http://10.0.0.7:8000/v1";

Model known(int index) {
  const auto openai = [](std::string id, std::string model) {
    return Deployment{std::move(id), std::move(model), "openai", std::string(kOpenai)};
  };
  switch (index) {
    case 0:
      return {
          "gpt-4o",
          45,
          1.2,
          2.5,
          10,
          {openai("gpt-4o-us-1", "gpt-4o-2024-11-20"), openai("gpt-4o-eu-1", "gpt-4o-2024-08-06")}};
    case 1:
      return {"judge", 8, 2, 1, 2, {openai("judge-1", "judge-1")}};
    case 2:
      return {"flaky",
              12,
              0.8,
              0.27,
              1.1,
              {{"flaky-1", "deepseek-chat", "deepseek",
                "https://api.deepseek.example/v1/chat/completions"}}};
    case 3:
      return {"private/qwen",
              10,
              0.5,
              0,
              0,
              {{"qwen-1", "qwen3-32b", "hosted_vllm", std::string(kLocal)}}};
    case 4:
      return {"capped", 5, 0.6, 0.15, 0.6, {openai("capped-1", "gpt-4o-mini")}};
    case 5:
      return {"newcomer",
              5,
              1,
              3,
              15,
              {{"newcomer-1", "claude-sonnet", "anthropic", "https://api.anthropic.example"}}};
    case 6:
      return {"stillborn", 1, 1, 1, 1, {openai("stillborn-1", "gpt-4.5-retired")}};
    default:
      return {"gpt-4o-mini", 14, 0.4, 0.15, 0.6, {openai("gpt-4o-mini-1", "gpt-4o-mini")}};
  }
}

}  // namespace

std::string Deployment::exception_prefix() const {
  std::string prefix = provider;
  if (!prefix.empty()) prefix[0] = static_cast<char>(std::toupper(prefix[0]));
  return prefix;
}

std::vector<Model> make_models(int count) {
  std::vector<Model> models;
  for (int i = 0; i < count; ++i) {
    if (i < 8) {
      models.push_back(known(i));
      continue;
    }
    const std::string name = fmt::format("model-{:03}", i);
    models.push_back({name,
                      60.0 / (i + 2),
                      1,
                      1,
                      3,
                      {{name + "-1", name + "-v1", "openai", std::string(kOpenai)}}});
  }
  return models;
}

}  // namespace outcomed::sim
