#include "alerts/alertmanager/alertmanager.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "alerts/alertmanager/payload.h"
#include "alerts/http_answer.h"
#include "alerts/text.h"

namespace outcomed {
namespace {

using Outcome = SendResult::Outcome;
using AlertSpan = std::span<const AlertMessage>;

// How many requests one round may spend on a peer to find bad alerts. A batch of 64 with one bad
// alert takes 12 of them, a batch of nothing else 126.
constexpr int kSearchRequests = 512;

// A firing alert ends this many rounds after the last one that told of it.
constexpr int kRoundsOfValidity = 4;

constexpr std::string_view kPath = "/api/v2/alerts";

std::string endpoint_of(std::string url) {
  while (url.ends_with('/')) url.pop_back();  // A doubled slash is a 404 behind a route prefix.
  if (!url.ends_with(kPath)) url += kPath;
  return url;
}

// 400: some alerts are bad and the others are stored. 413: the body is too large. 422: one field is
// bad and nothing is stored.
bool blames_content(int status) { return status == 400 || status == 413 || status == 422; }

// One round of one peer.
class PeerRound {
 public:
  PeerRound(const AlertmanagerSettings& settings, HttpClient& client, const std::string& endpoint,
            Timestamp now)
      : settings_(settings), client_(client), endpoint_(endpoint), now_(now) {}

  // False: the peer is left for this round; failure() says why.
  bool post(AlertSpan batch) {
    std::vector<AlertSpan> waiting = {batch};
    while (!waiting.empty()) {
      const AlertSpan part = waiting.back();
      waiting.pop_back();
      const auto answer = client_.send(request_of(part));
      if (!answer || !blames_content(answer->status)) {
        result_ = send_result_of(answer, now_);
        if (result_.outcome != Outcome::delivered) return false;
      } else if (part.size() == 1) {
        refuse(part.front(), send_result_of(answer, now_).detail);
      } else if (search_left_ < 2) {
        result_ = send_result_of(answer, now_);
        result_.detail += fmt::format("; gave up looking for the bad alerts among {}", part.size());
        return false;
      } else {
        search_left_ -= 2;
        waiting.push_back(part.subspan(part.size() / 2));
        waiting.push_back(part.first(part.size() / 2));
      }
    }
    return true;
  }

  [[nodiscard]] const SendResult& failure() const { return result_; }
  [[nodiscard]] const std::set<std::uint64_t>& refused() const { return refused_; }
  [[nodiscard]] SendResult summary(std::size_t total) const {
    SendResult result;
    result.outcome = refused_.empty() ? Outcome::delivered : Outcome::rejected;
    result.detail = total == 0 ? "nothing to send" : "HTTP 200";
    if (!refused_.empty()) {
      result.detail = fmt::format("{} of {} alerts refused, the others stored; first: {}",
                                  refused_.size(), total, first_refusal_);
    }
    return result;
  }

 private:
  HttpRequest request_of(AlertSpan alerts) {
    HttpRequest request;
    request.method = "POST";
    request.url = endpoint_;
    request.headers = {{"Content-Type", "application/json"}};
    request.body = alertmanager_body(alerts);
    request.access = settings_.access;
    request.timeout = settings_.timeout;
    request.on_body = [](std::string_view) { return ok(); };  // A 2xx has nothing to say.
    return request;
  }
  void refuse(const AlertMessage& alert, const std::string& detail) {
    if (refused_.empty()) {
      first_refusal_ = cut_text(one_line(alert.labels.to_string()), 512) + ": " + detail;
    }
    refused_.insert(alert.labels.fingerprint());
  }

  const AlertmanagerSettings& settings_;
  HttpClient& client_;
  const std::string& endpoint_;
  const Timestamp now_;
  int search_left_ = kSearchRequests;
  SendResult result_;
  std::string first_refusal_;
  std::set<std::uint64_t> refused_;
};

}  // namespace

void AlertmanagerSettings::visit(ParamVisitor& visitor) {
  visitor.url_list(
      "urls", urls,
      "Every Alertmanager of the cluster, path prefix included; each gets all alerts.");
  access.visit(visitor);
  visitor.duration("timeout", timeout, "Longest time for one request, connection included.");
  visitor.duration("resend_interval", resend_interval,
                   "How often the whole state is repeated; changes are sent at once.");
  visitor.count("batch", batch, {1, 1024}, "Alerts in one request at most.");
  if (urls.empty()) {
    visitor.problem("urls", "an Alertmanager needs at least one URL",
                    "urls: [\"http://127.0.0.1:9093\"]");
  }
  if (timeout <= Duration::zero() || timeout > std::chrono::minutes(5)) {
    visitor.problem("timeout", "the timeout must be above zero and at most 5m", "timeout: 10s");
  } else if (const Duration round = std::max(kAlertmanagerTick, resend_interval); timeout > round) {
    // Two requests that hang and the answer to a third still fit into the validity.
    visitor.problem(
        "timeout",
        fmt::format("the timeout ({}) must not be longer than resend_interval or 1m: "
                    "firing alerts end {} after they were told, so Alertmanager would "
                    "resolve them while a request hangs",
                    format_duration(timeout), format_duration(kRoundsOfValidity * round)),
        "timeout: 10s");
  }
  if (resend_interval < 1s || resend_interval > 1h) {
    visitor.problem("resend_interval", "the interval must be between 1s and 1h",
                    "resend_interval: 1m");
  }
}

AlertmanagerMirror::AlertmanagerMirror(AlertmanagerSettings settings, std::size_t peer,
                                       HttpClient& client, Duration tick)
    : settings_(std::move(settings)),
      peer_(peer),
      endpoint_(endpoint_of(settings_.urls.at(peer))),
      client_(client),
      tick_(tick) {}

// With its place in the list: two peers behind one host differ in their paths only, which aren't
// shown.
std::string AlertmanagerMirror::peer() const {
  return fmt::format("{} ({} of {})", redact_url(settings_.urls[peer_]), peer_ + 1,
                     settings_.urls.size());
}

SendResult AlertmanagerMirror::push(const std::vector<AlertMessage>& state, Timestamp now) {
  const Duration validity = kRoundsOfValidity * std::max(tick_, settings_.resend_interval);
  std::vector<AlertMessage> alerts = sendable(state, now + validity);
  std::ranges::stable_partition(alerts, [&](const AlertMessage& alert) {
    return !refused_.contains(alert.labels.fingerprint());
  });
  PeerRound round(settings_, client_, endpoint_, now);
  const AlertSpan all(alerts);
  const auto batch = static_cast<std::size_t>(std::max<std::int64_t>(settings_.batch, 1));
  bool failed = false;
  for (std::size_t at = 0; at < all.size() && !failed; at += batch) {
    failed = !round.post(all.subspan(at, std::min(batch, all.size() - at)));
  }
  if (!failed) refused_.clear();
  refused_.insert(round.refused().begin(), round.refused().end());
  return failed ? round.failure() : round.summary(alerts.size());
}

std::vector<std::shared_ptr<Mirror>> alertmanager_mirrors(const AlertmanagerSettings& settings,
                                                          HttpClient& client) {
  std::vector<std::shared_ptr<Mirror>> mirrors;
  for (std::size_t peer = 0; peer < settings.urls.size(); ++peer) {
    mirrors.push_back(
        std::make_shared<AlertmanagerMirror>(settings, peer, client, kAlertmanagerTick));
  }
  return mirrors;
}

}  // namespace outcomed
