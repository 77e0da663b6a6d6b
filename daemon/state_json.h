// The present state as JSON, in Prometheus' shapes where it has them.
#pragma once

#include <string>

#include "daemon/engine/engine.h"

namespace outcomed {

struct StateJson {
  // GET /api/v1/alerts:
  // {"status","data":{"alerts":[{"labels","annotations","state","activeAt","value"}]}}
  std::string alerts;
  // GET /api/v1/rules:
  // {"status","data":{"groups":[{"name","rules":[{"name","type","query",…,"alerts"}]}]}}
  std::string rules;
};
// Made at every tick: each alert is put into words once, for both.
StateJson state_json(const Engine& engine, const Announcer& announcer);

// What `explain` shows:
// {"status","rule","source_error","counting","groups":[{"labels","severity","phase","k","n","measured",
// "threshold","judgement","why","sentence","facts",…}]}. Groups are those that match all matchers;
// `measured` is null for a share of nothing. Empty: the engine has no such rule.
std::string explain_json(const Engine& engine, const std::string& rule, const Matchers& matchers);

}  // namespace outcomed
