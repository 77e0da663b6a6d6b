// The models of a simulated gateway, their deployments, share of traffic and prices.
#pragma once

#include <string>
#include <vector>

namespace outcomed::sim {

struct Deployment {
  std::string id;
  std::string provider_model;
  std::string provider;  // As in api_provider: "openai".
  std::string api_base;
  // "Openai": how exceptions of this provider begin.
  [[nodiscard]] std::string exception_prefix() const;
};

struct Model {
  std::string name;
  double weight = 1;       // Of the traffic.
  double latency = 1;      // Typical seconds.
  double input_price = 1;  // USD per million tokens.
  double output_price = 2;
  std::vector<Deployment> deployments;
};

// The first eight have names that scripts know: gpt-4o (two deployments, most of the traffic),
// judge (small), flaky, private/qwen, capped, newcomer, stillborn, gpt-4o-mini; further ones are
// called model-008 and so on, and get less and less.
std::vector<Model> make_models(int count);

}  // namespace outcomed::sim
