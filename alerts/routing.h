// Who hears of an alert: Alertmanager's routing tree, with its meaning unchanged.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "queries/base/labels.h"
#include "queries/base/matcher.h"

namespace outcomed {

// group_by: every label, each alert a group of its own.
inline constexpr std::string_view kGroupByAll = "...";

struct Route {
  std::string receiver;               // Empty: the parent's. The root must have one.
  Matchers matchers;                  // All must match. The root has none.
  std::vector<std::string> group_by;  // Label names or only "..."; empty: the parent's.
  bool goes_on = false;               // `continue`: siblings behind a match are tried, too.
  std::vector<Route> routes;          // Tried in order; the first match ends the search.
};

struct RouteMatch {
  std::string receiver;
  Labels group_labels;
  std::string group_key;  // {}/{severity="page"}:{rule="gateway_failures"}
  friend bool operator==(const RouteMatch&, const RouteMatch&) = default;
};

// Depth first: the deepest matching routes take the alert, a route itself only when none of its
// children did. Never empty for a root without matchers. The same receiver may come several times
// (through `continue`), each with its own group.
std::vector<RouteMatch> match(const Route& root, const Labels& labels);

struct RouteProblem {
  std::string path;  // "route.routes[1].group_by"
  std::string message;
  std::string hint;
  friend bool operator==(const RouteProblem&, const RouteProblem&) = default;
};

// What is wrong with the tree as a whole, all of it, parents before children.
std::vector<RouteProblem> route_problems(const Route& root,
                                         const std::vector<std::string>& receivers);

}  // namespace outcomed
