// The present state as JSON, in Prometheus' shapes where it has them.
#pragma once

#include <string>

#include "daemon/engine/engine.h"

namespace outcomed {

// GET /api/v1/alerts:
// {"status","data":{"alerts":[{"labels","annotations","state","activeAt","value"}]}}
std::string alerts_json(const Engine& engine, const Announcer& announcer);
// GET /api/v1/rules: {"status","data":{"groups":[{"name","rules":[{"name","type","query",…}]}]}}
std::string rules_json(const Engine& engine);
// What `explain` shows: {"status","rule","groups":[{"labels","severity","phase","k","n","measured",
// "threshold","judgement","why","sentence","facts",…}]}. Groups are those that match all matchers.
std::string explain_json(const Engine& engine, const std::string& rule, const Matchers& matchers);

}  // namespace outcomed
