#include "daemon/net/curl_client.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "daemon/net/curl_lane.h"

namespace outcomed {
namespace {

constexpr std::size_t kMaxIdleLanes = 8;

bool start_libcurl() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  return code == CURLE_OK;
}

// Where to go next, or nothing where this response is the answer.
std::optional<HttpUrl> redirect_target(const Attempt& attempt, const HttpResponse& response) {
  const int status = response.status;
  const bool repeats = status == 307 || status == 308;
  const bool reads = attempt.request.method == "GET" || attempt.request.method == "HEAD";
  if (!repeats && !(reads && status >= 301 && status <= 303)) return std::nullopt;
  auto target = attempt.url.resolve(std::string(response.header("location")));
  if (!target || target->origin() != attempt.url.origin()) return std::nullopt;
  return *std::move(target);
}

SecretScrubber scrubber_of(const Attempt& attempt) {
  std::vector<Secret> secrets = attempt.credentials.secrets;
  secrets.insert(secrets.end(), attempt.request.secrets.begin(), attempt.request.secrets.end());
  return SecretScrubber(secrets);
}

}  // namespace

CurlClient::CurlClient(SecretReader& secrets, CurlOptions options)
    : secrets_(secrets), options_(std::move(options)) {}

CurlClient::~CurlClient() = default;

Result<HttpResponse> CurlClient::send(const HttpRequest& request) {
  const auto now = std::chrono::steady_clock::now();
  // An unusable URL is not shown at all: what looks like its host may be a password.
  auto url = HttpUrl::parse(request.url);
  if (!url) return std::move(url).error();
  if (!is_http_token(request.method)) {
    return Error{ErrorKind::invalid, "the method is not a word like GET or POST"};
  }
  const std::string task = request.method + " " + redact_url(url->text);
  auto credentials = read_credentials(request.access, secrets_);
  if (!credentials) return std::move(credentials).error().while_doing(task);

  auto lane = start_libcurl() ? take_lane(url->origin()) : nullptr;
  if (!lane) return Error{ErrorKind::unavailable, task + ": libcurl can't be started"};
  const Duration timeout = std::clamp<Duration>(request.timeout, 0ms, 24h);
  Attempt attempt{request,       options_,        timeout,
                  now + timeout, *std::move(url), *std::move(credentials)};
  auto response = exchange(*lane, attempt);
  give_back(std::move(lane));
  SecretScrubber scrubber = scrubber_of(attempt);
  if (!response) {
    Error error = std::move(response).error();
    error.message = scrubber.scrub(error.message);
    return std::move(error).while_doing(task);
  }
  if (response->status / 100 != 2) response->body = scrubber.scrub(response->body);
  response->scrubber = std::move(scrubber);
  return response;
}

Result<HttpResponse> CurlClient::exchange(CurlLane& lane, Attempt& attempt) {
  bool reread = false;
  for (int redirects = 0; true;) {
    auto response = lane.perform(attempt);
    if (!response) return response;
    if (response->status == 401 && attempt.credentials.rotatable && !reread) {
      reread = true;
      auto fresh = read_credentials(attempt.request.access, secrets_);
      if (!fresh || fresh->equals(attempt.credentials)) return response;
      attempt.credentials = *std::move(fresh);
      continue;
    }
    if (redirects >= attempt.request.same_host_redirects) return response;
    auto target = redirect_target(attempt, *response);
    if (!target) return response;
    attempt.url = *std::move(target);
    ++redirects;
  }
}

std::unique_ptr<CurlLane> CurlClient::take_lane(const std::string& origin) {
  std::unique_ptr<CurlLane> lane;
  {
    const std::lock_guard lock(mutex_);
    // The lane that spoke to this server last has its connection; else the one used last of all.
    const auto found = std::find_if(idle_.rbegin(), idle_.rend(),
                                    [&](const auto& idle) { return idle->last_origin == origin; });
    if (found != idle_.rend()) {
      lane = std::move(*found);
      idle_.erase(std::next(found).base());
    } else if (!idle_.empty()) {
      lane = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!lane) lane = CurlLane::open();
  if (lane) lane->last_origin = origin;
  return lane;
}

void CurlClient::give_back(std::unique_ptr<CurlLane> lane) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMaxIdleLanes) idle_.push_back(std::move(lane));
}

}  // namespace outcomed
