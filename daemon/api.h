// What the daemon answers over HTTP. Handlers read snapshots and the store; none of them moves
// anything.
#pragma once

#include <functional>
#include <string>

#include "alerts/store.h"
#include "daemon/http/routes.h"
#include "daemon/runtime/watcher.h"

namespace outcomed {

struct ApiWorld {
  Watcher& watcher;
  Store& store;
  std::function<std::string()> metrics;  // The page /metrics.
};

// GET /-/healthy, /-/ready, /metrics, /api/v1/alerts, /api/v1/rules, /api/v1/episodes[/ID],
// /api/v1/explain?rule=NAME[&match=MATCHER].
HttpRoutes api_routes(ApiWorld world);

// ?rule= &from= &to= &open=true &limit= ; errors name the parameter.
Result<EpisodeFilter> episode_filter(const HttpRequestIn& request);

}  // namespace outcomed
