// Inside of the model's loader: parsed files become one configuration.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "daemon/config/yaml_tree.h"
#include "daemon/gateway/model.h"

namespace outcomed {

struct SourceText {
  std::string file;
  Node root;
};

struct ParsedFiles {
  std::deque<SourceText> texts;  // The main file first, then what it includes; empty if unusable.
  std::vector<ConfigProblem> problems;
  std::vector<ConfigProblem> duplicates;
};

LoadedGateway read_gateway(const std::string& name, ParsedFiles files);

}  // namespace outcomed
