#include "daemon/api.h"

#include <fmt/core.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "daemon/episode_json.h"

namespace outcomed {
namespace {

constexpr std::size_t kMostEpisodes = 10'000;
constexpr std::string_view kEpisodes = "/api/v1/episodes/";

// Prometheus' shape of an error.
HttpReply api_error(int status, std::string_view type, const std::string& message) {
  const nlohmann::json body = {{"status", "error"}, {"errorType", type}, {"error", message}};
  return HttpReply::json(body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                         status);
}

HttpReply store_error(const Error& error) { return api_error(503, "unavailable", error.message); }

HttpReply from_snapshot(const Watcher& watcher, std::string Snapshot::*part) {
  const auto snapshot = watcher.snapshot();
  if (snapshot == nullptr)
    return api_error(503, "unavailable", "the first tick isn't finished yet");
  return HttpReply::json((*snapshot).*part);
}

HttpReply episode_list(Store& store, const HttpRequestIn& request) {
  const auto filter = episode_filter(request);
  if (!filter) return api_error(400, "bad_data", filter.error().message);
  const auto episodes = store.episodes(*filter);
  if (!episodes) return store_error(episodes.error());
  return HttpReply::json(episodes_json(*episodes));
}

HttpReply one_episode(Store& store, const std::string& id) {
  const auto episode = store.episode(id);
  if (!episode) return store_error(episode.error());
  if (!*episode) return api_error(404, "not_found", fmt::format("there is no episode {}", id));
  const auto deliveries = store.deliveries(id);
  if (!deliveries) return store_error(deliveries.error());
  return HttpReply::json(episode_json(**episode, *deliveries));
}

HttpReply explain(Watcher& watcher, const HttpRequestIn& request) {
  const auto rule = request.parameter("rule");
  if (!rule) return api_error(400, "bad_data", "rule: the name of a rule is needed");
  Matchers matchers;
  for (const auto& [name, value] : request.query) {
    if (name != "match") continue;
    auto matcher = Matcher::parse(value);
    if (!matcher) return api_error(400, "bad_data", "match: " + matcher.error().message);
    matchers.push_back(*std::move(matcher));
  }
  auto text = watcher.explain(*rule, matchers, 2s);
  if (!text) return api_error(503, "unavailable", "a tick is going on; ask again");
  if (text->empty()) {
    return api_error(404, "not_found",
                     fmt::format("the running configuration has no rule {}", *rule));
  }
  return HttpReply::json(*std::move(text));
}

Status read_time(const HttpRequestIn& request, std::string_view name,
                 std::optional<Timestamp>& into) {
  const auto text = request.parameter(name);
  if (!text) return ok();
  const auto at = parse_timestamp(*text);
  if (!at) return Error{at.error()}.while_doing(name);
  into = *at;
  return ok();
}

HttpReply nothing_here(const HttpRequestIn&) {
  return api_error(404, "not_found", "there is nothing here");
}

}  // namespace

Result<EpisodeFilter> episode_filter(const HttpRequestIn& request) {
  EpisodeFilter filter;
  filter.rule = request.parameter("rule");
  if (const Status status = read_time(request, "from", filter.from); !status) return status.error();
  if (const Status status = read_time(request, "to", filter.to); !status) return status.error();
  if (const auto open = request.parameter("open")) {
    if (*open != "true" && *open != "false") {
      return Error{ErrorKind::invalid, "open: true or false"};
    }
    filter.open_only = *open == "true";
  }
  if (const auto limit = request.parameter("limit")) {
    const char* const end = limit->data() + limit->size();
    const auto [last, error] = std::from_chars(limit->data(), end, filter.limit);
    if (error != std::errc() || last != end || filter.limit == 0 || filter.limit > kMostEpisodes) {
      return Error{ErrorKind::invalid, fmt::format("limit: a number from 1 to {}", kMostEpisodes)};
    }
  }
  return filter;
}

HttpRoutes api_routes(ApiWorld world) {
  HttpRoutes routes;
  Watcher& watcher = world.watcher;
  Store& store = world.store;
  routes.get("/-/healthy", [](const HttpRequestIn&) { return HttpReply::text(200, "healthy"); })
      .get("/-/ready",
           [&watcher](const HttpRequestIn&) {
             return watcher.ready() ? HttpReply::text(200, "ready")
                                    : HttpReply::text(503, "the first tick isn't finished yet");
           })
      .get("/metrics",
           [metrics = std::move(world.metrics)](const HttpRequestIn&) {
             HttpReply reply;
             reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
             reply.body = metrics();
             return reply;
           })
      .get("/api/v1/alerts",
           [&watcher](const HttpRequestIn&) { return from_snapshot(watcher, &Snapshot::alerts); })
      .get("/api/v1/rules",
           [&watcher](const HttpRequestIn&) { return from_snapshot(watcher, &Snapshot::rules); })
      .get("/api/v1/episodes",
           [&store](const HttpRequestIn& request) { return episode_list(store, request); })
      .get_below(std::string(kEpisodes),
                 [&store](const HttpRequestIn& request) {
                   return one_episode(store, request.path.substr(kEpisodes.size()));
                 })
      .get("/api/v1/explain",
           [&watcher](const HttpRequestIn& request) { return explain(watcher, request); })
      .get("/api", nothing_here)
      .get_below("/api/", nothing_here);
  return routes;
}

}  // namespace outcomed
